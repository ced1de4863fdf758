// Where the bytes are: one piece for each weight, as wide as it is large, in the order of the model; the colour says what
// will become of it.
import { useMemo, useState } from 'preact/hooks';
import type { Report } from 'octet-wasm';
import { bytesText, plural } from '../format';
import { choices, choose } from '../state/choices';
import { planFile } from '../state/in_force';
import { FATES, gathered, weightsOf } from '../weights';
import type { Fate, Weight } from '../weights';

const WIDTH = 1000, HEIGHT = 44;
const VISIBLE = 1 / 500;

const WORDS: Record<Fate, string> = {
  integers: 'computed in integers', stored: 'stored small, computed in float', float: 'left in float',
};

function nameText({ name, count, shape }: Weight): string {
  return count > 1 ? `${name} and ${plural(count - 1, 'small neighbour')}` : shape ? `${name} ${shape}` : name;
}

const fateText = ({ fate, type }: Weight) => (type ? `${WORDS[fate]} (${type})` : WORDS[fate]);

const wholeText = (weight: Weight) =>
  `${nameText(weight)}, ${bytesText(weight.bytes)}, ${fateText(weight)}${weight.why && `: ${weight.why}`}`;

function Key({ weights }: { weights: Weight[] }) {
  const bytes = (fate: Fate) => weights.reduce((sum, one) => sum + (one.fate === fate ? one.bytes : 0), 0);
  return (
    <ul class="key">
      {FATES.filter((fate) => bytes(fate) > 0).map((fate) => (
        <li key={fate}><span class={`swatch ${fate}`} />{bytesText(bytes(fate))} {WORDS[fate]}</li>
      ))}
    </ul>
  );
}

function Detail({ weight }: { weight: Weight | undefined }) {
  if (!weight) return <p class="detail hint">Point at a piece, tap it, or walk with the arrow keys to see what it is.</p>;
  const excluded = choices.value.nodes_to_exclude;
  const canKeep = !planFile.value && weight.fate !== 'float' && weight.count === 1 && weight.node !== '';
  return (
    <p class="detail">
      <strong>{nameText(weight)}</strong> <span class="figure">{bytesText(weight.bytes)}</span>
      {weight.op && ` of ${weight.op} ${weight.node}`}: {fateText(weight)}{weight.why && `; ${weight.why}`}
      {canKeep && (
        <>
          {' '}
          <button
            type="button" class="quiet inline" onClick={() => choose({ nodes_to_exclude: [...excluded, weight.node] })}
          >
            Leave it in float
          </button>
        </>
      )}
    </p>
  );
}

function Table({ weights }: { weights: Weight[] }) {
  const rows = [...weights].sort((a, b) => b.bytes - a.bytes).slice(0, 200);
  return (
    <details class="rest">
      <summary>The same as a table</summary>
      <div class="scroll tall" tabIndex={0} role="region" aria-label="Weights">
        <table>
          <thead>
            <tr>{['weight', 'bytes', 'what', 'why'].map((head) => <th key={head} scope="col">{head}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((weight) => (
              <tr key={weight.name}>
                <th scope="row">{nameText(weight)}</th>
                <td class="figure">{bytesText(weight.bytes)}</td>
                <td>{fateText(weight)}</td>
                <td>{weight.why}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {weights.length > rows.length && <p>and {plural(weights.length - rows.length, 'smaller one')}</p>}
    </details>
  );
}

export function WeightStrip({ report }: { report: Report }) {
  const weights = useMemo(() => weightsOf(report), [report]);
  const total = weights.reduce((sum, { bytes }) => sum + bytes, 0);
  const pieces = useMemo(() => gathered(weights, total * VISIBLE), [weights]);
  const [at, setAt] = useState(-1);
  if (total === 0) return <p class="note">This model stores no float weights: there is nothing to make smaller.</p>;
  let left = 0;
  const step: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: pieces.length - 1 };
  const move = (event: KeyboardEvent) => {
    if (step[event.key] === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(pieces.length - 1, step[event.key]!)));
  };
  return (
    <div class="weights">
      <div
        class="weight-strip" role="listbox" tabIndex={0} aria-label="Weights by layer" onKeyDown={move}
        aria-activedescendant={at >= 0 && at < pieces.length ? `weight-${at}` : undefined}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="presentation">
          {pieces.map((weight, i) => {
            const x = left, width = (weight.bytes / total) * WIDTH;
            left += width;
            return (
              <rect
                key={i} id={`weight-${i}`} role="option" aria-selected={i === at} aria-label={wholeText(weight)}
                class={`${weight.fate} ${i === at ? 'chosen' : ''}`} x={x} width={Math.max(0.5, width)} height={HEIGHT}
                onMouseEnter={() => setAt(i)} onClick={() => setAt(i)}
              />
            );
          })}
        </svg>
      </div>
      <Key weights={weights} />
      <Detail weight={pieces[at]} />
      <Table weights={weights} />
    </div>
  );
}
