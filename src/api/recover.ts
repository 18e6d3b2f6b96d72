import type { Engine } from '../engine/engine.ts';
import { findApplied, findCreated } from '../engine/recover.ts';
import type { Kind } from '../model/kind.ts';
import { lowerToResponse } from '../model/lower/response.ts';
import { callOf } from './authenticate.ts';
import type { Recover } from './idempotency.ts';

/** Answers a creation whose answer was lost with the object as it was made; what is shown once is not in it. */
export function recoverCreated(engine: Engine, kind: Kind): Recover {
  return async (request, revision) => {
    const call = callOf(request);
    const found = await findCreated(engine, call, kind, revision);
    if (found === undefined) return undefined;
    const seen = found.state.seen({ now: engine.now(), viewer: call.actor.id });
    return lowerToResponse(engine.registry, found.object, kind.varies === true ? seen : found.state);
  };
}

/** Answers an apply whose answer was lost with the revision and what it did; what is shown once is not in it. */
export function recoverApplied(engine: Engine): Recover {
  return (request, revision) => findApplied(engine, callOf(request), revision);
}
