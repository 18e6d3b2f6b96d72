import type { Json, JsonObject } from '../../lib/json.ts';
import { entryIdsOf } from '../entry-ids.ts';
import { type AnyField, entriesOf, type Fields, isEmpty } from '../field.ts';
import type { Kind, State } from '../kind.ts';
import type { StoredObject } from '../object.ts';
import type { Registry } from '../registry.ts';
import { keyedEntries } from '../units.ts';

/** The answer of the API for one object: its id, its fields, its inline children, and what the server works out. */
export function lowerToResponse(registry: Registry, object: StoredObject, state: State): JsonObject {
  const kind = registry.get(object.kind);
  const lowering = { registry, object, state };
  const children = registry
    .childrenOf(kind.name)
    .map(
      (child) =>
        [
          child.parent?.inline ?? '',
          state.childrenOf(object.id, child.name).map((item) => lowerToResponse(registry, item, state)),
        ] as const,
    );
  const fields = Object.fromEntries(entriesOf(kind.spec).filter(([name]) => name !== kind.parent?.field));
  const body: JsonObject = {
    id: object.id,
    ...lowerFields(lowering, fields, object.spec, ''),
    ...Object.fromEntries(children),
    ...computedMembers(kind, object, state),
  };
  return kind.respond?.(body, object, state) ?? body;
}

/** The short form in which other objects' answers show this one. */
function lowerToSummary(registry: Registry, object: StoredObject, state: State): JsonObject {
  const kind = registry.get(object.kind);
  const members = (kind.summary ?? ['id', 'name']).map((member): [string, Json] => {
    if (member === 'id') return [member, object.id];
    return [member, kind.computed[member]?.value(object, state) ?? object.spec[member] ?? ''];
  });
  return Object.fromEntries(members);
}

function computedMembers(kind: Kind, object: StoredObject, state: State): JsonObject {
  const members = Object.entries(kind.computed).flatMap(([name, computed]) => {
    const value = computed.value(object, state);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

interface Lowering {
  readonly registry: Registry;
  readonly object: StoredObject;
  readonly state: State;
}

function lowerFields(lowering: Lowering, fields: Fields, spec: JsonObject, path: string): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, field] of entriesOf(fields)) {
    const value = spec[name];
    if (field.omitEmpty === true && isEmpty(value)) continue;
    const lowered =
      value === undefined ? absent(field) : lowerValue(lowering, field, value, path === '' ? name : `${path}.${name}`);
    if (lowered !== undefined) result[name] = lowered;
  }
  return result;
}

/** An unset scalar text is `""`, an absent object is left out. */
function absent(field: AnyField): Json | undefined {
  return field.type === 'ref' || field.type === 'string' ? '' : undefined;
}

function lowerValue(lowering: Lowering, field: AnyField, value: Json, path: string): Json {
  const { registry, state } = lowering;
  switch (field.type) {
    case 'refs':
      return field.answer === 'ids'
        ? value
        : (value as readonly string[]).flatMap((id) => summaryOf(registry, state, id));
    case 'members':
      return Object.keys(value as JsonObject).flatMap((id) => {
        const element = state.get(id);
        return element === undefined ? [] : [{ id, name: element.name }];
      });
    case 'keyed':
      return lowerEntries(lowering, field, value as readonly JsonObject[], path);
    case 'object':
      return lowerFields(lowering, field.fields, value as JsonObject, path);
    case 'list':
      return field.of.type === 'object'
        ? (value as readonly JsonObject[]).map((item) =>
            lowerFields(lowering, (field.of as { readonly fields: Fields }).fields, item, path),
          )
        : value;
    default:
      return value;
  }
}

function summaryOf(registry: Registry, state: State, id: string): readonly JsonObject[] {
  const object = state.get(id);
  return object === undefined ? [] : [lowerToSummary(registry, object, state)];
}

function lowerEntries(
  lowering: Lowering,
  field: Extract<AnyField, { readonly type: 'keyed' }>,
  entries: readonly JsonObject[],
  path: string,
): Json {
  // Keys are names that people choose, `constructor` among them.
  const ids = new Map(Object.entries(entryIdsOf(lowering.object)[path] ?? {}));
  return keyedEntries(field.key, entries).map(([key, entry]) => ({
    ...(field.ids ? { id: ids.get(key) ?? '' } : {}),
    ...lowerFields(lowering, field.fields, entry, path),
  }));
}
