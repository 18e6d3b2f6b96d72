import type { Engine } from '../../commit/engine.ts';
import type { Reader } from '../../documents/reader.ts';
import type { SourceRules } from '../../features/sources/source-admin.ts';
import type { Limiter } from '../rate-limit.ts';

/** What the routes under `/api/config` need. */
export interface ConfigRoutesOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly version: string;
  readonly sources: SourceRules;
  /** Runs before everything that makes a plan. */
  readonly planLimit: Limiter;
}

/** Bodies under `/api/config` carry whole source revisions. */
export const bodyLimit = 64 * 1024 * 1024;
