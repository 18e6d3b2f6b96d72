import type { Json } from '../lib/json.ts';
import { shouldYield } from '../lib/steps.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { DerivedChange, ObjectChange } from '../model/declare/mutation.ts';
import { canonicalSpec } from '../model/schema/normalize.ts';
import { contentFromSpec, withMemberEdits } from '../model/state/members.ts';
import { type StoredObject, uncommittedMembers } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Edit } from './finish.ts';

/** Maximum number of rounds of derived changes. More indicates a cycle in the declarations. */
const maxRounds = 8;

/** External inputs of derived changes. */
interface DerivingInput {
  readonly now: string;
  readonly actor?: Actor | undefined;
  newId(): string;
}

/**
 * Returns the edits with all derived changes. An object that is edited twice keeps the later spec; a deleted object
 * stays deleted. Yields regularly.
 */
export function* withDerivedChanges(
  snapshot: Snapshot,
  edits: readonly Edit[],
  { now, newId, actor }: DerivingInput,
): Generator<undefined, readonly Edit[]> {
  if (!(yield* haveDerivedChanges(snapshot, edits))) return edits;
  const byId = new Map(edits.map((edit) => [subject(edit).id, edit]));
  let round: readonly Edit[] = edits;
  let state = snapshot;
  // Edits that are decided but not in `state` yet. Only these are added to it; otherwise each round would cost as much
  // as all rounds before it.
  const fresh = new Map(byId);
  function* catchUp(): Generator<undefined, void> {
    state = yield* stateAfter(state, fresh);
    fresh.clear();
  }
  for (let rounds = 0; round.length > 0; rounds++) {
    if (rounds === maxRounds)
      throw new Error(`derived changes of ${subject(round[0] as Edit).kind} do not come to an end`);
    const context = { newId, ...(actor === undefined ? {} : { actor }) };
    yield* catchUp();
    const written = new Set<string>();
    const following: Edit[] = [];
    for (const [at, edit] of round.entries()) {
      if (shouldYield(at)) yield undefined;
      let followers = derivedChangesOf(snapshot, edit, state, context);
      // Another edit of this round already changed the same object. The derived changes are computed again on the
      // updated state, so that they do not undo it.
      if (followers.some((follower) => written.has(targetIdOf(follower)))) {
        yield* catchUp();
        written.clear();
        followers = derivedChangesOf(snapshot, edit, state, context);
      }
      for (const follower of followers) written.add(targetIdOf(follower));
      const more = followers.flatMap((follower) => addDerivedChange(snapshot, byId, follower, now));
      for (const one of more) {
        fresh.set(subject(one).id, one);
        following.push(one);
      }
    }
    round = following;
  }
  return [...byId.values()];
}

function* haveDerivedChanges(snapshot: Snapshot, edits: readonly Edit[]): Generator<undefined, boolean> {
  for (const [at, edit] of edits.entries()) {
    if (shouldYield(at)) yield undefined;
    if (hasDerivedChanges(snapshot, edit)) return true;
  }
  return false;
}

function hasDerivedChanges(snapshot: Snapshot, edit: Edit): boolean {
  const { derivedChanges, derivedChangesFrom, alsoFollows } = snapshot.registry.get(subject(edit).kind);
  if (derivedChanges === undefined || derivedChangesFrom !== 'inputs') return derivedChanges !== undefined;
  if (alsoFollows?.(subject(edit), snapshot) === true) return true;
  const { before, given } = edit;
  // A new object without inputs has no derived changes. A replaced object may lose those that its former inputs gave
  // it.
  return given !== undefined && (before !== undefined || Object.values(given).some((value) => !isEmptyList(value)));
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

function derivedChangesOf(
  snapshot: Snapshot,
  edit: Edit,
  state: Snapshot,
  context: Pick<ObjectChange, 'newId' | 'actor'>,
): readonly DerivedChange[] {
  const kind = snapshot.registry.get(subject(edit).kind);
  const { before, after, given } = edit;
  return (
    kind.derivedChanges?.(
      {
        ...context,
        ...(before === undefined ? {} : { before }),
        ...(after === undefined ? {} : { after }),
        ...(given === undefined ? {} : { given }),
      },
      state,
    ) ?? []
  );
}

function* stateAfter(state: Snapshot, byId: ReadonlyMap<string, Edit>): Generator<undefined, Snapshot> {
  const edits = [...byId.values()];
  return yield* state.withInSteps({
    put: edits.flatMap(({ after }) => (after === undefined ? [] : [after])),
    remove: edits.flatMap(({ before, after }) => (after === undefined && before !== undefined ? [before.id] : [])),
  });
}

/** Returns the id of the object that a derived change affects. */
function targetIdOf(follower: DerivedChange): string {
  if ('remove' in follower) return follower.remove.id;
  return 'add' in follower ? follower.add.id : follower.change.id;
}

/**
 * Records a derived change. Returns the edit, so that its own derived changes follow; empty when it changes nothing.
 */
function addDerivedChange(
  snapshot: Snapshot,
  byId: Map<string, Edit>,
  follower: DerivedChange,
  now: string,
): readonly Edit[] {
  const edit = editOf(snapshot, follower, now);
  const id = subject(edit).id;
  const present = byId.get(id);
  if (present !== undefined && present.after === undefined) return [];
  if (edit.after === undefined && edit.before === undefined) return [];
  // An object that the caller edits too stays a change of the caller, so that the caller's rights are checked.
  const isInternal = present === undefined || present.internal === true;
  const merged: Edit = { ...present, ...edit, ...(isInternal ? { internal: true } : {}) };
  byId.set(id, merged);
  return [merged];
}

function editOf(snapshot: Snapshot, follower: DerivedChange, now: string): Edit {
  if ('remove' in follower) return removal(snapshot, follower.remove);
  if ('add' in follower) return { after: newObject(snapshot, follower.add, now) };
  const { change, spec = change.spec, members = {}, derived } = follower;
  const kind = snapshot.registry.get(change.kind);
  const moved = Object.entries(members).reduce(
    (object, [field, edits]) => withMemberEdits(object, field, edits),
    change,
  );
  const after = {
    ...moved,
    spec,
    name: String(spec[kind.nameField] ?? change.name),
    derived: { ...change.derived, ...derived },
    updatedAt: now,
  };
  const before = snapshot.get(change.id);
  return before === undefined ? { after } : { before, after };
}

function removal(snapshot: Snapshot, object: StoredObject): Edit {
  const before = snapshot.get(object.id) ?? object;
  return { before };
}

function newObject(
  snapshot: Snapshot,
  { id, kind: name, parent, spec, derived = {} }: Extract<DerivedChange, { readonly add: unknown }>['add'],
  now: string,
): StoredObject {
  const kind = snapshot.registry.get(name);
  const content = contentFromSpec(kind.spec, canonicalSpec(kind, spec).spec);
  return {
    id,
    kind: name,
    ...(parent === undefined ? {} : { parent }),
    name: String(content.spec[kind.nameField] ?? ''),
    ...content,
    derived,
    ...uncommittedMembers(now),
  };
}

function subject(edit: Edit): StoredObject {
  const object = edit.after ?? edit.before;
  if (object === undefined) throw new Error('an edit has neither a before nor an after');
  return object;
}
