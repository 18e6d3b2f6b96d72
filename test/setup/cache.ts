import { homedir } from 'node:os';
import { join } from 'node:path';

/** Directory in which built or downloaded programs are kept between runs, because making one takes minutes. */
export const cache =
  process.env['HEDDLE_TEST_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'heddle');
