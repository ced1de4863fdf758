// The page with a run's options, without its data: what they do to another model, or to the same on another machine.
import type { Run } from '../state/runs';

export const linkOf = (_run: Run): string => location.href;
