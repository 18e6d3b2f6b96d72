import type { Propose } from '../commit/commit.ts';
import type { Call, Engine } from '../commit/engine.ts';
import type { AccountAccess } from '../db/database.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Kind } from '../model/declare/kind.ts';
import { nounOf } from '../model/declare/kind-noun.ts';
import { Conflict, type ConflictReason, InvalidInput, NotAllowed, NotFound } from '../model/errors.ts';
import { isTruncationNote, limitProblems, maxProblems, type Problem } from '../model/problem.ts';
import { canonicalSpec } from '../model/schema/normalize.ts';
import { contentFromSpec } from '../model/state/members.ts';
import { type StoredObject, uncommittedMembers } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { approvalReasonsOf } from '../plan/finish.ts';
import { planRenewal } from '../plan/requests/renew.ts';
import {
  planCreate,
  planDelete,
  planReplace,
  type RequestContext,
  type RequestOutcome,
} from '../plan/requests/requests.ts';
import { checkRequestTests } from './access-tests.ts';
import { type OtherUses, usedByInvites } from './invite-uses.ts';
import { type OverrideRequest, startBreakGlass } from './overrides.ts';
import { readableProblems } from './readable-problems.ts';
import { withCommits } from './with-commits.ts';

/** An object, and the state from which it was read. */
export interface ObjectWithState {
  readonly object: StoredObject;
  readonly state: Snapshot;
}

/** Result of a write: the current object (or the deleted one), and the unknown members of the body. */
export interface WriteResult extends ObjectWithState {
  readonly ignored: readonly string[];
  /** Notices for the caller about the result. */
  readonly notices?: readonly string[];
  /** Generated values that are shown only this once. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** Options of a write. */
export interface WriteOptions {
  /** Versions (revision numbers), one of which the object must have. `*` for any. */
  readonly ifMatch?: readonly string[];
  /** Whether unknown members are refused instead of ignored. */
  readonly strict: boolean;
  /** JSON pointers of members of the body whose bounds do not apply to this caller. */
  readonly unlimited?: readonly string[];
  /** Override of what sources state, for a while. */
  readonly breakGlass?: OverrideRequest & { readonly since?: string };
}

/**
 * A state of the account, with the requested objects: all of them, or the objects after an id. The objects are
 * collected lazily.
 */
export interface ListResult {
  readonly state: Snapshot;
  objects(behind?: string): Iterable<StoredObject>;
}

/**
 * Lists all objects of a kind, sorted by id; for a child kind, the objects of one parent. Throws `NotFound` when the
 * parent does not exist.
 */
export async function listObjects(engine: Engine, call: Call, kind: Kind, parent?: string): Promise<ListResult> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  if (parent === undefined) return { state, objects: (behind) => state.ofKindAfter(kind.name, behind) };
  requireParent(state, kind, parent);
  return { state, objects: (behind = '') => state.childrenOf(parent, kind.name).filter(({ id }) => id > behind) };
}

/** Returns one object by id. Throws `NotFound`, also when the object belongs to another parent. */
export async function readObject(
  engine: Engine,
  call: Call,
  kind: Kind,
  id: string,
  parent?: string,
): Promise<ObjectWithState> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  return { object: impliedObject(engine, state, kind) ?? requireObject(state, kind, id, parent), state };
}

/** Creates an object. Throws `InvalidInput` with all problems, or `Conflict`. */
export async function createObject(
  engine: Engine,
  call: Call,
  kind: Kind,
  body: JsonObject,
  options: WriteOptions,
  parent?: string,
): Promise<WriteResult> {
  const timed = await withOverrideTime(engine, call, options);
  return await write(engine, call, kind, (state) => {
    if (parent !== undefined) requireParent(state, kind, parent);
    return planCreate(contextOf(engine, call, state, timed), kind, body, parent);
  });
}

/** Replaces an object. An equal body writes nothing. */
export async function replaceObject(
  engine: Engine,
  call: Call,
  kind: Kind,
  id: string,
  body: JsonObject,
  options: WriteOptions,
  parent?: string,
): Promise<WriteResult> {
  const timed = await withOverrideTime(engine, call, options);
  const disapprovalIn = kind.dropEchoes && (await engine.access.readDisapprovals(call.account));
  const statedIn = (state: Snapshot, object: StoredObject): JsonObject => {
    if (disapprovalIn === undefined || kind.dropEchoes === undefined) return body;
    const disapproval = (peer: string) => disapprovalIn(state, peer);
    return kind.dropEchoes(body, object, state.viewedAs({ now: engine.now(), viewer: call.actor.id, disapproval }));
  };
  return await write(engine, call, kind, (state) => {
    const object = impliedObject(engine, state, kind) ?? requireObject(state, kind, id, parent);
    requireVersion(object, options);
    return planReplace(contextOf(engine, call, state, timed), kind, object, statedIn(state, object));
  });
}

/** Generates the values again that the server generated at creation. `outputs` contains them, only this once. */
export async function renewObject(
  engine: Engine,
  call: Call,
  kind: Kind,
  id: string,
  options: WriteOptions,
): Promise<WriteResult> {
  const timed = await withOverrideTime(engine, call, options);
  return await write(engine, call, kind, (state) => {
    const object = requireObject(state, kind, id, undefined);
    requireVersion(object, options);
    return planRenewal(contextOf(engine, call, state, timed), kind, object);
  });
}

/** Deletes an object with its children. Throws `Conflict` while other objects or invites use it. */
export async function deleteObject(
  engine: Engine,
  call: Call,
  kind: Kind,
  id: string,
  options: WriteOptions,
  parent?: string,
): Promise<WriteResult> {
  const timed = await withOverrideTime(engine, call, options);
  return await write(engine, call, kind, (state, database) => {
    const end = (alsoUsedBy: OtherUses): RequestOutcome => {
      const object = requireObject(state, kind, id, parent);
      requireVersion(object, options);
      return planDelete({ ...contextOf(engine, call, state, timed), alsoUsedBy }, kind, object);
    };
    return kind.namedByInvites === true ? usedByInvites(database, call.account, [id]).then(end) : end(new Map());
  });
}

/** Plans and commits one request about an object of a kind. */
export async function write(
  engine: Engine,
  call: Call,
  kind: Kind,
  plan: (state: Snapshot, database: AccountAccess) => RequestOutcome | Promise<RequestOutcome>,
): Promise<WriteResult> {
  let outcome: RequestOutcome | undefined;
  const propose: Propose = (state, database) => {
    const judge = (planned: RequestOutcome) => {
      outcome = planned;
      return checkRequestTests(engine, state, planned);
    };
    const planned = plan(state, database);
    return planned instanceof Promise ? planned.then(judge) : judge(planned);
  };
  const committed = await engine.committer.mutate({ ...call, propose });
  if (!committed.ok) {
    const problems = await withCommits(engine, call.account, committed.problems);
    throw errorForProblems(readableProblems(committed.state, call, problems));
  }
  const id = outcome?.id ?? '';
  const object = committed.after.get(id) ?? committed.before.get(id) ?? impliedObject(engine, committed.after, kind);
  if (object === undefined) throw new NotFound(`${nounOf(kind.name)} ${id} not found`);
  return {
    object,
    state: committed.after,
    ignored: outcome?.ignored ?? [],
    notices: committed.plan.changes.flatMap((change) => approvalReasonsOf(committed.before, change)),
    outputs: committed.plan.outputs.get(id) ?? {},
  };
}

/** Adds the database's time to an override, because overrides begin and end by the database's clock. */
async function withOverrideTime(engine: Engine, { account }: Call, options: WriteOptions): Promise<WriteOptions> {
  const { breakGlass } = options;
  if (breakGlass === undefined) return options;
  return { ...options, breakGlass: { ...breakGlass, since: await engine.databaseTime(engine.database, account) } };
}

/** Returns the context in which a request is planned. */
export function contextOf(engine: Engine, { actor }: Call, snapshot: Snapshot, options: WriteOptions): RequestContext {
  const now = engine.now();
  const { breakGlass, unlimited = [] } = options;
  return {
    unlimited,
    ...(breakGlass === undefined
      ? {}
      : { breakGlass: startBreakGlass(snapshot, actor, breakGlass.since ?? now, breakGlass) }),
    snapshot,
    validator: engine.validator,
    strict: options.strict,
    now,
    newId: engine.newId,
    planEnvironment: engine.planEnvironment,
    actor,
  };
}

function requireParent(state: Snapshot, kind: Kind, parent: string): void {
  const object = state.get(parent);
  if (object === undefined || object.kind !== kind.parent?.kind)
    throw new NotFound(`${nounOf(kind.parent?.kind ?? '')} ${parent} not found`);
}

function requireObject(state: Snapshot, kind: Kind, id: string, parent: string | undefined): StoredObject {
  if (parent !== undefined) requireParent(state, kind, parent);
  const object = state.get(id);
  if (object === undefined || object.kind !== kind.name || object.parent !== parent)
    throw new NotFound(`${nounOf(kind.name)} ${id} not found`);
  return object;
}

/** Returns the default object of a kind that always has one, while none is stored. */
function impliedObject(engine: Engine, state: Snapshot, kind: Kind): StoredObject | undefined {
  if (kind.alwaysExists !== true || state.countOf(kind.name) > 0) return undefined;
  const content = contentFromSpec(kind.spec, canonicalSpec(kind, {}).spec);
  return {
    ...{ id: engine.newId(), kind: kind.name, name: '', derived: {}, ...content },
    ...uncommittedMembers(engine.now()),
  };
}

function requireVersion(object: StoredObject, { ifMatch }: WriteOptions): void {
  if (ifMatch === undefined || ifMatch.includes('*') || ifMatch.includes(String(object.updatedRevision))) return;
  throw new Conflict(
    'precondition',
    `${nounOf(object.kind)} ${object.id} was changed in revision ${object.updatedRevision}; read it again and repeat the change`,
  );
}

/**
 * Reasons of conflicts by problem code, for problems with the state of the account. Every other problem is about the
 * input.
 */
const conflicts: Readonly<Record<string, ConflictReason>> = {
  value_taken: 'taken',
  route_overlaps: 'taken',
  nothing_free: 'taken',
  managed_field: 'managed_field',
  unit_conflict: 'managed_field',
  reference_missing: 'in_use',
  scope_overlap: 'managed_field',
  source_foreign: 'managed_field',
  object_protected: 'managed_field',
  object_linked: 'linked',
  // `linked`, because the kinds that refuse deletion do so for objects that the server itself maintains, such as the
  // group of all peers.
  delete_refused: 'linked',
  object_in_use: 'in_use',
  object_required: 'precondition',
  edition_required: 'precondition',
  precondition_failed: 'precondition',
};

/**
 * Returns the error for problems: `NotAllowed` when one of them is about permissions, `Conflict` when all of them are
 * conflicts, and otherwise `InvalidInput`. The error lists only some of very many problems.
 */
export function errorForProblems(all: readonly Problem[]): InvalidInput | Conflict | NotAllowed {
  const problems = all.length > maxProblems ? limitProblems(all) : all;
  const [first] = problems;
  const reason = first === undefined ? undefined : conflicts[first.code];
  const message = summaryOf(problems);
  if (all.some(({ code }) => code === 'not_allowed')) return new NotAllowed(message, { problems });
  if (reason !== undefined && all.every((problem) => isTruncationNote(problem) || problem.code in conflicts))
    return new Conflict(reason, message, { problems });
  return new InvalidInput(message, { problems });
}

function summaryOf(problems: readonly Problem[]): string {
  const [first, ...others] = problems.filter((problem) => !isTruncationNote(problem));
  if (first === undefined) return 'the input is wrong';
  if (others.length === 0) return first.message;
  const count = `${problems.some(isTruncationNote) ? 'more than ' : ''}${others.length}`;
  return `${first.message} (and ${count} more ${others.length === 1 ? 'problem' : 'problems'})`;
}
