import { asObjects, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { entryIdsOf, keyedEntries } from '../../model/schema/entries.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import { type Content, equalContent } from '../../model/state/members.ts';
import type { Declaration, Override, StoredObject } from '../../model/state/object.ts';
import { maxAliases } from '../keyed-account.ts';
import { isLive, overridesMember, remainingOverrides } from '../ownership/overrides.ts';
import { includesSource, type RollbackScope } from './scope.ts';

/**
 * Returns the object with its former members outside the spec. The owner and the key stay when sources out of scope own
 * or state the object.
 */
export function restoreEnvelope(
  { scope, now }: { readonly scope: RollbackScope; readonly now: string },
  kind: Kind,
  { was, is }: { readonly was: StoredObject; readonly is: StoredObject },
  { content, declared }: { readonly content: Content; readonly declared: readonly Declaration[] },
): StoredObject {
  const { owner: _, key: __, overrides: ___, aliases: ____, ...rest } = is;
  const { spec } = content;
  const isTheirs = is.owner !== undefined && !includesSource(scope, is.owner);
  const owner = isTheirs ? is.owner : was.owner;
  const isNamedByOthers = isTheirs || is.declared.some(({ source }) => !includesSource(scope, source));
  const { key } = isNamedByOthers ? is : was;
  const aliases = restoredAliases(was, is, key);
  const parent = kind.parent === undefined ? undefined : spec[kind.parent.field];
  return {
    ...rest,
    ...(typeof parent === 'string' ? { parent } : {}),
    ...(key === undefined ? {} : { key }),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(declared.some(({ source }) => source === owner) ? { owner } : {}),
    name: String(spec[kind.nameField] ?? is.name),
    ...content,
    derived: restoredDerived(kind, was, is, spec),
    protected: isTheirs ? is.protected : was.protected,
    ...overridesMember(keptOverrides(kind, is, declared, now)),
    declared,
    updatedAt: equalContent(content, is) ? is.updatedAt : now,
  };
}

/**
 * Returns all former keys from both states except the current key, so that documents that use a later key still find
 * the object.
 */
function restoredAliases(was: StoredObject, is: StoredObject, key: string | undefined): readonly string[] {
  const known = [...(was.aliases ?? []), ...(is.aliases ?? []), ...(is.key === undefined ? [] : [is.key])];
  return [...new Set(known)].filter((alias) => alias !== key).slice(-maxAliases);
}

/**
 * Keeps the overrides in effect, even when no source states the unit any more. The value of such a unit also stays
 * until the override ends.
 */
function keptOverrides(
  { spec: fields }: Kind,
  is: StoredObject,
  declared: readonly Declaration[],
  now: string,
): readonly Override[] {
  const stated = remainingOverrides(fields, is, declared);
  return (is.overrides ?? []).filter((override) => isLive(override, now) || stated.includes(override));
}

/** Restores the former ids of restored list entries, and the values that the server had chosen for restored fields. */
function restoredDerived(kind: Kind, was: StoredObject, is: StoredObject, spec: JsonObject): JsonObject {
  const chosen = entriesOf(kind.spec).filter(
    ([name, field]) =>
      field.serverChosen !== undefined &&
      equalJson(spec[name], field.serverChosen) &&
      !equalJson(is.spec[name], spec[name]) &&
      was.derived[name] !== undefined,
  );
  const ids = restoredEntryIds(kind, was, is, spec);
  return {
    ...is.derived,
    ...Object.fromEntries(chosen.map(([name]) => [name, was.derived[name] as Json])),
    ...(ids === undefined ? {} : { entry_ids: ids }),
  };
}

function restoredEntryIds(kind: Kind, was: StoredObject, is: StoredObject, spec: JsonObject): JsonObject | undefined {
  const lists = entriesOf(kind.spec).flatMap(([name, field]) =>
    field.type === 'keyed' && field.ids ? [[name, field.key] as const] : [],
  );
  if (lists.length === 0) return undefined;
  const [then, now] = [entryIdsOf(was), entryIdsOf(is)];
  return Object.fromEntries(
    lists.map(([name, key]) => {
      const restored = new Set(keyedEntries(key, asObjects(spec[name] ?? [])).map(([unit]) => unit));
      const staying = Object.entries(now[name] ?? {}).filter(([unit]) => restored.has(unit));
      const taken = new Set(staying.map(([, id]) => id));
      const returning = Object.entries(then[name] ?? {}).filter(([unit, id]) => restored.has(unit) && !taken.has(id));
      return [name, Object.fromEntries([...returning, ...staying])];
    }),
  );
}
