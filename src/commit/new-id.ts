import { sha256 } from '../lib/node-pure.ts';
import type { Call, Engine } from './engine.ts';

/** An id for what a request makes outside of revisions: the same one when the request is repeated. */
export function newIdFor(engine: Engine, { requestId }: Pick<Call, 'requestId'>): string {
  return requestId === undefined ? engine.newId() : sha256(requestId()).slice(0, 20);
}
