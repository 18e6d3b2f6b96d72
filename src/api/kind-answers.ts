import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../commit/engine.ts';
import type { Kind, State } from '../model/declare/kind.ts';
import { lowerToResponse } from '../model/lower/response.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { readObserved } from '../objects/observed.ts';
import { isAllowed } from '../plan/checks/authorize.ts';
import { type Answer, type AnswerWork, cachedAnswer, makeLongAnswer, sendAnswer } from './answers/answers.ts';
import { callOf } from './authenticate.ts';

/** Id of the caller, and whether the answer is a list or one object. */
interface AnswerView {
  readonly viewer: string;
  readonly answerKind: 'list' | 'one';
}

/**
 * Makes an answer about a state. It is cached, unless answers of the kind depend on the time, the caller or
 * observations.
 */
export async function answerOf(
  engine: Engine,
  kind: Kind,
  state: Snapshot,
  viewing: AnswerView & { readonly name: string },
  make: (seen: State) => AnswerWork,
): Promise<Answer> {
  if (!isVolatile(kind)) return cachedAnswer(state, viewing.name, () => make(state));
  return makeLongAnswer(make(await withObservations(engine, kind, state, viewing)));
}

/** Whether answers of a kind depend on more than a revision. */
export function isVolatile({ dependsOnView, observed }: Kind): boolean {
  return dependsOnView === true || observed !== undefined;
}

/**
 * Returns a state with the observations for one request. Counts over the whole account are only made when the answer
 * shows them.
 */
export async function withObservations(
  engine: Engine,
  kind: Kind,
  state: Snapshot,
  { viewer, answerKind }: AnswerView,
): Promise<State> {
  const isCounted =
    answerKind === 'list' && Object.values(kind.computed).some(({ countsAccess }) => countsAccess === true);
  const [countAccessible, disapprovalIn, observed] = await Promise.all([
    isCounted ? engine.access.createPeerCounter(state) : undefined,
    engine.access.readDisapprovals(state.account),
    readObserved(engine, kind, state.account),
  ]);
  return state.viewedAs({
    now: engine.now(),
    viewer,
    disapproval: (peer) => disapprovalIn(state, peer),
    ...(countAccessible === undefined ? {} : { countAccessible }),
    ...(observed === undefined ? {} : { observed }),
  });
}

/** Returns the id of the caller when they may only see their own objects, otherwise `undefined`. */
export function restrictedCallerId(kind: Kind, request: FastifyRequest, state: Snapshot): string | undefined {
  const { actor } = callOf(request);
  return isAllowed(state, actor, kind.module, 'read') ? undefined : actor.id;
}

/** Sends one object. */
export async function sendObject(
  engine: Engine,
  object: StoredObject,
  state: Snapshot,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const kind = engine.registry.get(object.kind);
  const viewing = { viewer: callOf(request).actor.id, answerKind: 'one', name: object.id } as const;
  const answer = await answerOf(engine, kind, state, viewing, (seen) => ({
    version: object.updatedRevision,
    body: lowerToResponse(engine.registry, object, seen),
  }));
  return sendAnswer(request, reply, answer);
}
