import { sha256 } from '../lib/node-pure.ts';
import type { Call, Engine } from './engine.ts';

/**
 * Returns an id for an entity that a request creates outside of revisions. The id is the same when the request is
 * repeated.
 */
export function newIdFor(engine: Engine, { requestId }: Pick<Call, 'requestId'>): string {
  return requestId === undefined ? engine.newId() : sha256(requestId()).slice(0, 20);
}
