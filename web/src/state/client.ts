// The worker that does what takes time.
import { WorkClient } from '../work/client';

export const client = new WorkClient();
