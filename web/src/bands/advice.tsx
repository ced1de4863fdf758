// What to try next, as the verdict says: a button where the page can do it at once.
import type { Choices } from '../options';
import type { Comparison } from '../package';

type Verdict = Comparison['verdict'];

type AdviceCode = Verdict['next'][number]['code'];

/** What an advice changes, where it is an option. */
const CHANGES: Partial<Record<AdviceCode, Partial<Choices>>> = {
  static: { mode: 'static' },
  weights: { mode: 'weights' },
  dynamic: { mode: 'dynamic' },
  per_channel: { per_channel: 'channel' },
  bits8: { weight_type: 'qint8', block_size: 0 },
  method: { method: 'best' },
  activations16: { activation_type: 'quint16' },
  activations8: { activation_type: 'quint8' },
  unsigned_activations: { activation_type: 'quint8' },
  fold: { target: 'any' },
};

export interface AdviceActions {
  choose(change: Partial<Choices>): void;
  findLayers(): void;
  again(): void;
}

interface Props {
  next: Verdict['next'];
  /** Null where the float model is not open: then advice is only said. */
  actions: AdviceActions | null;
  busy: boolean;
}

function stepOf(code: AdviceCode, actions: AdviceActions): (() => void) | null {
  const change = CHANGES[code];
  if (change) return () => actions.choose(change);
  if (code === 'keep_layers') return actions.findLayers;
  return code === 'time_again' ? actions.again : null;
}

export function Advice({ next, actions, busy }: Props) {
  if (next.length === 0) return null;
  return (
    <ul class="advice" aria-label="What to try">
      {next.map(({ code, text }) => {
        const step = actions && stepOf(code, actions);
        return (
          <li key={code}>
            {step ? (
              <button type="button" disabled={busy} onClick={step}>
                {text}
              </button>
            ) : (
              text
            )}
          </li>
        );
      })}
    </ul>
  );
}
