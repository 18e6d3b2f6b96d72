import type { FastifyReply } from 'fastify';
import type { Call, Engine } from '../commit/engine.ts';
import type { EarlierEffects } from '../commit/idempotency.ts';
import type { ObjectOutput } from '../commit/shown-once.ts';
import type { AppliedPlan } from '../features/config/plans/apply-plan.ts';
import { findApplied, findCreated, findRevisionEffect } from '../features/config/plans/recover.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Kind } from '../model/declare/kind.ts';
import { lowerToResponse } from '../model/lower/response.ts';
import type { ObjectWithState } from '../objects/objects.ts';
import { etagOf } from './answers/answers.ts';
import { callOf } from './authenticate.ts';
import type { Recover } from './idempotency.ts';

/**
 * Rebuilds the lost answer to a creation: the object as it was created. Values that are shown once are included for a
 * day.
 */
export function recoverCreated(engine: Engine, kind: Kind): Recover<JsonObject | undefined> {
  return async (request, reply, { revision, once }) => {
    if (revision === undefined) return undefined;
    const call = callOf(request);
    const found = await findCreated(engine, call, kind, revision);
    if (found === undefined) return undefined;
    const outputs = (once?.outputs ?? []).filter(({ id }) => id === found.object.id);
    return showFound(engine, call, found, reply, valuesOf(outputs));
  };
}

/** Rebuilds the lost answer to a change: the object as the change left it. */
export async function recoverChanged(
  engine: Engine,
  { call, reply }: { readonly call: Call; readonly reply: FastifyReply },
  id: string,
  { revision }: EarlierEffects,
) {
  if (revision === undefined) return undefined;
  const state = (await findRevisionEffect(engine, call, revision))?.after;
  const object = state?.get(id);
  return state === undefined || object === undefined ? undefined : showFound(engine, call, { object, state }, reply);
}

function showFound(
  engine: Engine,
  { actor }: Pick<Call, 'actor'>,
  { object, state }: ObjectWithState,
  reply: FastifyReply,
  once: JsonObject = {},
): JsonObject {
  const { dependsOnView } = engine.registry.get(object.kind);
  const seen = dependsOnView === true ? state.viewedAs({ now: engine.now(), viewer: actor.id }) : state;
  const body = { ...lowerToResponse(engine.registry, object, seen), ...once };
  void reply.header('etag', etagOf(object.updatedRevision, JSON.stringify(body)));
  return body;
}

/** Rebuilds the lost answer to a change whose answer has no body. */
export const recoverEmpty: Recover = async (_request, _reply, { revision }) =>
  revision === undefined ? undefined : null;

/**
 * Rebuilds the lost answer to an apply: the revision and its changes. Values that are shown once are included for a
 * day.
 */
export function recoverApplied(engine: Engine) {
  return async (
    { call }: { readonly call: Call },
    { revision, once }: EarlierEffects,
  ): Promise<AppliedPlan | undefined> => {
    if (revision === undefined) return undefined;
    const applied = await findApplied(engine, call, revision);
    const outputs = (once?.outputs ?? []).map(({ id: _, ...output }) => output);
    return { ...applied, ...(outputs.length === 0 ? {} : { outputs }) };
  };
}

/**
 * Rebuilds the lost answer to a request that made no revision, from the stored body. Returns `undefined` after a day.
 */
export const recoverBody: Recover = async (_request, _reply, { once }) => once?.body;

function valuesOf(outputs: readonly ObjectOutput[]): JsonObject {
  return Object.fromEntries(outputs.map(({ field, value }) => [field, value]));
}
