// The workers that do what takes time.
import { Octet } from 'octet-wasm';

export const octet = new Octet();
