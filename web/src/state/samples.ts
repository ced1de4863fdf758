// What the models run on.
import { signal } from '@preact/signals';

/** .npz files to check outputs on; inputs are made up where there are none. */
export const evaluation = signal<Blob[]>([]);
