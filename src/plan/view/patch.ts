import type { AddOperation, RemoveOperation, ReplaceOperation } from 'fast-json-patch';
import { asObject, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { AnyField, Fields } from '../../model/schema/field.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import { hideSecrets, hideValueSecrets } from '../../model/schema/secret-fields.ts';
import type { Content } from '../../model/state/members.ts';
import { placeholdersOf, withPlaceholders } from '../digest.ts';
import { type Change, type Plan, subjectOf } from '../plan.ts';

/** A JSON Patch operation as plain JSON. */
type Operation = Plain<AddOperation<Json>> | Plain<RemoveOperation> | Plain<ReplaceOperation<Json>>;

type Plain<T> = { readonly [Member in keyof T]: T[Member] };

/**
 * Effect of a plan on one object, as RFC 6902 operations on its spec, with references as ids. `@Kind/key` stands for
 * the id of an object that the plan creates.
 */
export interface ObjectPatch {
  readonly kind: string;
  readonly key?: string;
  readonly id: string;
  readonly action: Change['action'];
  readonly patch: readonly Operation[];
}

/**
 * Returns the plan as JSON patches for tools. Applying each patch to the stored spec gives the planned spec, except for
 * secrets, which are not shown. Yields now and then.
 */
export function patchesInSteps(registry: Registry, plan: Plan): Generator<undefined, readonly ObjectPatch[]> {
  const created = placeholdersOf(plan.changes);
  return mapInSteps(plan.changes, (change) => {
    const { kind, key, id } = subjectOf(change);
    const { spec } = registry.get(kind);
    const operations = operationsOf(spec, change);
    return {
      kind,
      ...(key === undefined ? {} : { key }),
      id: created.get(id) ?? id,
      action: change.action,
      // `withPlaceholders` only replaces ids, so the result is still a list of operations.
      patch: withPlaceholders(operations, created) as readonly Operation[],
    };
  });
}

function operationsOf(fields: Fields, { before, after }: Change): readonly Operation[] {
  if (before === undefined)
    return after === undefined ? [] : [{ op: 'add', path: '', value: hideSecrets(fields, withMemberLists(after)) }];
  if (after === undefined) return [{ op: 'remove', path: '' }];
  return patchFields(fields, withMemberLists(before), withMemberLists(after), '');
}

/** Returns the spec as documents and requests write it, with memberships as lists of ids. */
function withMemberLists({ spec, members = {} }: Content): JsonObject {
  return { ...spec, ...Object.fromEntries(Object.entries(members).map(([name, edges]) => [name, edges.keys()])) };
}

function patchFields(fields: Fields, before: JsonObject, after: JsonObject, pointer: string): readonly Operation[] {
  return entriesOf(fields).flatMap(([name, field]) =>
    patchValue(field, before[name], after[name], `${pointer}/${name}`),
  );
}

function patchValue(
  field: AnyField,
  before: Json | undefined,
  after: Json | undefined,
  path: string,
): readonly Operation[] {
  if (equalJson(before, after)) return [];
  if (after === undefined) return [{ op: 'remove', path }];
  const shown = hideValueSecrets(field, after);
  if (before === undefined) return [{ op: 'add', path, value: shown }];
  if (field.type === 'object') return patchFields(field.fields, asObject(before), asObject(after), path);
  const identity = identityOf(field);
  if (identity === undefined || !Array.isArray(before) || !Array.isArray(after))
    return [{ op: 'replace', path, value: shown }];
  return patchList(identity, before, after, Array.isArray(shown) ? shown : after, path);
}

type Identity = (item: Json) => string;

/** Returns the function that identifies elements of a list; `undefined` for a list that is replaced as a whole. */
function identityOf(field: AnyField): Identity | undefined {
  if (field.type === 'keyed') return (item) => String(asObject(item)[field.key]);
  const isSet = field.type === 'refs' || field.type === 'members' || (field.type === 'list' && field.set);
  return isSet ? (item) => String(item) : undefined;
}

/**
 * Returns the operations between two lists that are sorted by identity. `shown` is the new list without secrets.
 * Removals are ordered from the end, followed by replacements and additions at their final positions.
 */
function patchList(
  identity: Identity,
  before: readonly Json[],
  after: readonly Json[],
  shown: readonly Json[],
  path: string,
): readonly Operation[] {
  const target = new Set(after.map(identity));
  const present = new Map(before.map((item) => [identity(item), item]));
  // Elements with the same identity have no position of their own, so the whole list is replaced.
  if (target.size < after.length || present.size < before.length) return [{ op: 'replace', path, value: [...shown] }];
  const removals = before.flatMap((item, at): readonly Operation[] =>
    target.has(identity(item)) ? [] : [{ op: 'remove', path: `${path}/${at}` }],
  );
  const others = after.flatMap((item, at): readonly Operation[] => {
    const old = present.get(identity(item));
    if (old === undefined) return [{ op: 'add', path: `${path}/${at}`, value: shown[at] ?? item }];
    return equalJson(old, item) ? [] : [{ op: 'replace', path: `${path}/${at}`, value: shown[at] ?? item }];
  });
  return [...removals.reverse(), ...others];
}
