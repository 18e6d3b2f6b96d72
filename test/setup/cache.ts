import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where programs are kept between runs: to make one takes minutes. */
export const cache =
  process.env['HEDDLE_TEST_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'heddle');
