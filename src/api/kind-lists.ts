import type { FastifyReply, FastifyRequest } from 'fastify';
import { createBatcher } from '../commit/batcher.ts';
import type { Engine } from '../commit/engine.ts';
import { mapInSteps } from '../lib/steps.ts';
import type { Kind, State } from '../model/declare/kind.ts';
import { InvalidInput } from '../model/errors.ts';
import { lowerToResponse } from '../model/lower/response.ts';
import type { Problem } from '../model/problem.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { type ListResult, listObjects } from '../objects/objects.ts';
import { type Answer, type AnswerWork, makeLongAnswer, sendAnswer } from './answers/answers.ts';
import { longListsOf } from './answers/long-lists.ts';
import { nextLink, type Page, pageOf, startOf, takePage } from './answers/pages.ts';
import { callOf } from './authenticate.ts';
import { queryOf } from './input/address.ts';
import { answerOf, isVolatile, restrictedCallerId, withObservations } from './kind-answers.ts';

/** Filters and page of a list request. */
interface ListRequest {
  readonly filters: readonly (readonly [name: string, value: string])[];
  readonly page: Page | undefined;
  /** Id of the caller, when they may only see their own objects. */
  readonly own: string | undefined;
}

/** Sends the objects of a kind: all, those of one parent, those that match filters, or a page of them. */
export async function sendList(
  engine: Engine,
  kind: Kind,
  request: FastifyRequest,
  reply: FastifyReply,
  parent?: string,
): Promise<FastifyReply> {
  const listed = await listObjects(engine, callOf(request), kind, parent);
  const { state } = listed;
  const asked = {
    filters: filtersOf(kind, request),
    page: pageOf(request),
    own: restrictedCallerId(kind, request, state),
  };
  const viewer = callOf(request).actor.id;
  if (isCompleteList(kind, asked, parent))
    return sendAnswer(request, reply, await completeListsOf(engine)(state, kind, viewer));
  const name = `list ${kind.name} ${parent ?? ''} ${JSON.stringify([asked.filters, asked.page])} ${asked.own ?? ''}`;
  const answer = await answerOf(engine, kind, state, { viewer, answerKind: 'list', name }, (seen) =>
    writeList(engine, kind, { listed, seen, request, ...asked }),
  );
  return sendAnswer(request, reply, answer);
}

/** Whether a list contains every object of a kind, and is the same for all callers. */
function isCompleteList(kind: Kind, { filters, page, own }: ListRequest, parent: string | undefined): boolean {
  const isSameForAll = kind.dependsOnView !== true && kind.extraListEntries === undefined && own === undefined;
  return isSameForAll && filters.length === 0 && page === undefined && parent === undefined;
}

interface ListWork extends ListRequest {
  readonly listed: ListResult;
  readonly seen: State;
  readonly request: FastifyRequest;
}

function* writeList(engine: Engine, kind: Kind, { listed, seen, request, ...asked }: ListWork) {
  const matches = (object: StoredObject) =>
    isOwnOf(kind, object, asked, seen) && passesFilters(kind, object, asked, seen);
  const candidates = listed.objects(startOf(kind, asked.page));
  const { objects, next } = yield* takePage(kind, candidates, { limit: asked.page?.limit, matches });
  const made = yield* mapInSteps(objects, (object) => lowerToResponse(engine.registry, object, seen, 'list'));
  const body = [...made, ...(next === undefined ? (kind.extraListEntries?.(seen) ?? []) : [])];
  return { version: newestVersion(objects), body, ...(next === undefined ? {} : { link: nextLink(request, next) }) };
}

function isOwnOf(kind: Kind, object: StoredObject, { own }: ListRequest, seen: State): boolean {
  return own === undefined || kind.isOwn?.(object, own, seen) === true;
}

function passesFilters(kind: Kind, object: StoredObject, { filters }: ListRequest, seen: State): boolean {
  return filters.every(([name, value]) => kind.filters?.[name]?.matches(object, value, seen));
}

type CompleteLists = (state: Snapshot, kind: Kind, viewer: string) => Promise<Answer>;

const completeLists = new WeakMap<Engine, CompleteLists>();

/**
 * Returns the cache of complete lists of a server. Requests that arrive while a list is being written share the next
 * list, which is written once for all of them.
 */
function completeListsOf(engine: Engine): CompleteLists {
  const present = completeLists.get(engine) ?? createCompleteLists(engine);
  completeLists.set(engine, present);
  return present;
}

function createCompleteLists(engine: Engine): CompleteLists {
  interface Item {
    readonly state: Snapshot;
    readonly kind: Kind;
    readonly viewer: string;
  }
  const ask = createBatcher<string, Item, Answer>(async (_, items) => {
    const newest = items.reduce((one, other) => (other.state.revision > one.state.revision ? other : one));
    const { state, kind, viewer } = newest;
    const seen = await withObservations(engine, kind, state, { viewer, answerKind: 'list' });
    const answer = await makeLongAnswer(writeCompleteList(engine, kind, state, seen));
    return () => answer;
  });
  return async (state, kind, viewer) => {
    const viewing = { viewer, answerKind: 'list', name: `list ${kind.name}` } as const;
    if (isVolatile(kind)) return ask(`${state.account} ${kind.name}`, { state, kind, viewer });
    return answerOf(engine, kind, state, viewing, (seen) => writeCompleteList(engine, kind, state, seen));
  };
}

function* writeCompleteList(
  engine: Engine,
  kind: Kind,
  state: Snapshot,
  seen: State,
): Exclude<AnswerWork, { version: number }> {
  const long = yield* longListsOf(engine).answer(state, kind.name, seen);
  if (long !== undefined) return long;
  const objects = state.ofKind(kind.name);
  const body = yield* mapInSteps(objects, (object) => lowerToResponse(engine.registry, object, seen, 'list'));
  return { version: newestVersion(objects), body };
}

function newestVersion(objects: readonly StoredObject[]): number {
  return objects.reduce((version, object) => Math.max(version, object.updatedRevision), 0);
}

function filtersOf(kind: Kind, request: FastifyRequest): ListRequest['filters'] {
  const query = queryOf(request);
  const given = Object.keys(kind.filters ?? {}).flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const problems = given.flatMap(([name, value]): readonly Problem[] => {
    const message = kind.filters?.[name]?.fault?.(value);
    return message === undefined ? [] : [{ code: 'filter_invalid', path: `/${name}`, message }];
  });
  if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join('; '), { problems });
  return given;
}
