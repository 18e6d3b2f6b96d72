import type { JsonObject } from '../lib/json.ts';
import { type Kind, statesOnly } from '../model/kind.ts';
import type { StoredObject } from '../model/object.ts';
import type { Problem } from '../model/problem.ts';
import { mapReferences } from '../model/references.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { diffUnits, unitsOf } from '../model/units.ts';
import type { Change } from './plan.ts';
import { sourceOrigin } from './state-units.ts';

/**
 * The units of a request that sources state with another value. Equal values pass, so clients that replace whole
 * objects can still change what nobody states.
 */
export function managedProblems(kind: Kind, before: StoredObject, spec: JsonObject): readonly Problem[] {
  if (before.declared.length === 0) return [];
  const changes = diffUnits(kind.spec, before.spec, spec);
  if (changes.length === 0) return [];
  const stated = before.declared.map((declaration) => ({ declaration, units: unitsOf(kind.spec, declaration.stated) }));
  return changes.flatMap((change) => {
    const owner = stated.find(({ units }) => units.has(change.path));
    if (owner === undefined || addsNothing(change.after)) return [];
    const { source, file, line } = owner.declaration;
    const message = `${change.path} is managed by the source ${source} (${file}:${line}); change it there`;
    return [
      {
        code: 'managed_field',
        kind: kind.name,
        key: before.key ?? before.name,
        path: `/${change.path.split(/[.[]/)[0]}`,
        message,
      },
    ];
  });
}

/** An object that a source states is deleted by deleting its document, unless documents neither make nor end such objects. */
export function ownedProblems(kind: Kind, object: StoredObject, goes: 'itself' | 'along'): readonly Problem[] {
  const [by] = object.declared;
  if (by === undefined || statesOnly(kind)) return [];
  const name = `${object.kind} ${object.key ?? object.name}`;
  const manager = `is managed by the source ${by.source} (${by.file}:${by.line})`;
  const message =
    goes === 'itself'
      ? `${name} ${manager}; delete it there`
      : `${name} would go too, and ${manager}; delete it there first`;
  return [{ code: 'managed_field', kind: object.kind, key: object.key ?? object.name, message }];
}

/** What follows from a request leaves alone what sources state, like the request itself. */
export function consequenceProblems(changes: readonly Change[], next: Snapshot): readonly Problem[] {
  return changes.flatMap(({ internal, before, after }) => {
    if (internal !== true || before === undefined) return [];
    const kind = next.registry.get(before.kind);
    if (after === undefined) return ownedProblems(kind, before, 'along');
    return managedProblems(kind, { ...before, spec: withoutPending(kind, before.spec, next) }, after.spec);
  });
}

/** The spec without references that merely wait again: to what is not there any more and documents may name all the same. */
function withoutPending(kind: Kind, spec: JsonObject, next: Snapshot): JsonObject {
  return mapReferences(kind.spec, spec, ({ kind: target, text }) =>
    next.get(text) === undefined && next.registry.get(target).pending === true ? undefined : text,
  );
}

/** Membership that keeps the source's origin only gains or loses other origins. */
function addsNothing(after: unknown): boolean {
  return Array.isArray(after) && after.includes(sourceOrigin);
}
