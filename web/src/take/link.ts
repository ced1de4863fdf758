// The page with a run's options, without its data: what they do to another model, or to the same on another machine.
import { toHash } from '../option_url';
import { DEFAULTS } from '../options';
import type { Run } from '../state/runs';

export const linkOf = (run: Run): string =>
  `${location.origin}${location.pathname}${toHash({ ...DEFAULTS, ...run.choices })}`;
