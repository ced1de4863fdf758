// Compares live values with TypeScript declarations: what a type says a value holds, the value holds, and nothing else.
import ts from '../../wasm/node_modules/typescript/lib/typescript.js';

const { TypeFlags, SymbolFlags } = ts;

export class Declarations {
  constructor(path, lib = ['lib.es2022.d.ts']) {
    const { ESNext, ES2022 } = { ...ts.ModuleKind, ...ts.ScriptTarget };
    const options = { module: ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, target: ES2022 };
    const program = ts.createProgram([path], { ...options, strict: true, noEmit: true, lib, types: [] });
    this.problems = ts.getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
    this.checker = program.getTypeChecker();
    const module = this.checker.getSymbolAtLocation(program.getSourceFile(path));
    const declared = (symbol) => (symbol.flags & SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol);
    this.exports = new Map(this.checker.getExportsOfModule(module).map((symbol) => [symbol.name, declared(symbol)]));
  }

  type(name) {
    return this.checker.getDeclaredTypeOfSymbol(this.exports.get(name));
  }

  // Names of a type's properties.
  keys(name) {
    return this.type(name).getProperties().map((property) => property.name);
  }

  // The strings of a union of literals.
  literals(name) {
    return this.type(name).types.map(({ value }) => value);
  }

  // Number of parameters of a method.
  arity(name, method) {
    const property = this.type(name).getProperty(method);
    return this.checker.getTypeOfSymbol(property).getCallSignatures()[0].parameters.length;
  }

  // What is wrong with `value` as a `name`, one line each.
  compare(name, value) {
    return [...this.faults(this.type(name), value, name)];
  }

  * faults(type, value, where) {
    const { checker } = this;
    const wrong = `${where}: ${show(value)} is no ${checker.typeToString(type)}`;
    if (type.isUnion()) {
      const fits = type.types.some((part) => this.faults(part, value, where).next().done);
      const whole = type.types.filter((part) => !(part.flags & TypeFlags.Undefined));
      // Of an optional property the faults inside are worth more than that it does not fit.
      if (!fits && whole.length === 1) yield* this.faults(whole[0], value, where);
      else if (!fits) yield wrong;
    } else if (type.flags & TypeFlags.StringLiteral) {
      if (value !== type.value) yield wrong;
    } else if (type.flags & (TypeFlags.Null | TypeFlags.Undefined | TypeFlags.BooleanLiteral)) {
      if (String(value) !== checker.typeToString(type) || typeof value === 'string') yield wrong;
    } else if (type.flags & (TypeFlags.String | TypeFlags.Number)) {
      if (typeof value !== checker.typeToString(type)) yield wrong;
    } else if (checker.isArrayType(type)) {
      if (!Array.isArray(value)) return yield wrong;
      const [element] = checker.getTypeArguments(type);
      for (const [i, entry] of value.entries()) yield* this.faults(element, entry, `${where}[${i}]`);
    } else if (type.symbol?.name === 'Uint8Array') {
      if (!(value instanceof Uint8Array)) yield wrong;
    } else if (typeof value !== 'object' || value === null) {
      yield wrong;
    } else {
      yield* this.objectFaults(type, value, where);
    }
  }

  * objectFaults(type, value, where) {
    const { checker } = this;
    const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    const declared = new Map(type.getProperties().map((property) => [property.name, property]));
    for (const [key, entry] of Object.entries(value)) {
      const wanted = declared.has(key) ? checker.getTypeOfSymbol(declared.get(key)) : index;
      if (wanted) yield* this.faults(wanted, entry, `${where}.${key}`);
      else yield `${where}.${key}: is not declared`;
    }
    for (const [key, property] of declared) {
      if (!(key in value) && !(property.flags & SymbolFlags.Optional)) yield `${where}.${key}: is declared and missing`;
    }
  }
}

function show(value) {
  return String(JSON.stringify(value) ?? value).slice(0, 60);
}
