import type { Reader } from '../../documents/reader.ts';
import type { Engine } from '../../engine/engine.ts';

/** What the routes under `/api/config` need. */
export interface ConfigRoutesOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly version: string;
}

/** Bodies under `/api/config` carry whole source revisions. */
export const bodyLimit = 64 * 1024 * 1024;
