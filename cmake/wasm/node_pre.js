// Emscripten 3.1.6 loads a .wasm file through fetch, which in Node refuses paths: hand it the bytes instead.
Module['wasmBinary'] = require('fs').readFileSync(__filename.replace(/\.c?js$/, '.wasm'));
