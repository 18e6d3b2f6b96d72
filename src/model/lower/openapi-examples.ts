import type { Json, JsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import { canonicalSpec } from '../canonical.ts';
import { withEntryIds } from '../entry-ids.ts';
import { entriesOf, type Fields, isEmpty } from '../field.ts';
import type { Kind } from '../kind.ts';
import type { StoredObject } from '../object.ts';
import { type Mention, mapReferences, mentionsOf } from '../references.ts';
import type { Registry } from '../registry.ts';
import { emptySnapshot, type Snapshot } from '../snapshot.ts';
import { lowerToResponse } from './response.ts';

/** What the example of a kind looks like on its way in and out. */
export interface Examples {
  request(kind: Kind): JsonObject;
  response(kind: Kind): JsonObject;
}

/** Examples of all kinds: the answers are what the server says in an account that holds every kind's example. */
export function createExamples(registry: Registry): Examples {
  const snapshot = exampleAccount(registry);
  return {
    request: (kind) => trimmed(bodyFields(kind), exampleSpec(kind)),
    response(kind) {
      const object = snapshot.get(exampleId(kind.name));
      return object === undefined ? {} : lowerToResponse(registry, object, snapshot);
    },
  };
}

/** Over HTTP the parent stands in the path. */
function bodyFields(kind: Kind): Fields {
  return Object.fromEntries(entriesOf(kind.spec).filter(([name]) => name !== kind.parent?.field));
}

function trimmed(fields: Fields, spec: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, field] of entriesOf(fields)) {
    const value = spec[name];
    if (value === undefined || (field.omitEmpty === true && isEmpty(value))) continue;
    const entries = field.type === 'keyed' ? (value as readonly JsonObject[]) : undefined;
    result[name] =
      field.type === 'keyed' && entries !== undefined ? entries.map((entry) => trimmed(field.fields, entry)) : value;
  }
  return result;
}

function exampleSpec(kind: Kind): JsonObject {
  const idOf = ({ kind: target, text, field }: Mention) =>
    field === kind.parent?.field ? exampleId(target) : sampleId(target, text);
  return mapReferences(kind.spec, canonicalSpec(kind, kind.example).spec, idOf);
}

function exampleId(kind: string): string {
  return sampleId(kind, '');
}

/** An id made from a name: the same for every mention of it, in the alphabet of real ones. */
function sampleId(kind: string, key: string): string {
  return sha256(`${kind}/${key}`).slice(0, 20);
}

/** The example of every kind, and a stand-in for everything that examples name. */
function exampleAccount(registry: Registry): Snapshot {
  const objects = new Map<string, StoredObject>();
  const put = (object: StoredObject) => objects.set(object.id, object);
  for (const kind of registry.kinds) {
    for (const { kind: target, text } of mentionsOf(kind.spec, kind.example)) {
      const named = registry.find(target);
      if (named !== undefined) put(standIn(named, text));
    }
  }
  for (const kind of registry.kinds) put(storedExample(kind, exampleId(kind.name), exampleSpec(kind)));
  return emptySnapshot(registry, exampleId('Account')).with({ put: [...objects.values()], remove: [] });
}

/** Something of a kind that is called like the key by which an example names it, and names nothing itself. */
function standIn(kind: Kind, key: string): StoredObject {
  const alone = mapReferences(kind.spec, canonicalSpec(kind, kind.example).spec, () => undefined);
  const name = kind.nameField in kind.spec ? { [kind.nameField]: key } : {};
  return storedExample(kind, sampleId(kind.name, key), { ...alone, ...name });
}

function storedExample(kind: Kind, id: string, spec: JsonObject): StoredObject {
  const stored = Object.entries(spec).map(
    ([name, value]) => [name, kind.spec[name]?.type === 'members' ? membersOf(value) : value] as const,
  );
  const at = '2026-01-02T03:04:05.000Z';
  const object: StoredObject = {
    ...{ id, kind: kind.name, name: String(spec[kind.nameField] ?? ''), spec: Object.fromEntries(stored), derived: {} },
    ...(kind.parent === undefined ? {} : { parent: exampleId(kind.parent.kind) }),
    ...{ protected: false, createdRevision: 1, updatedRevision: 1, createdAt: at, updatedAt: at, declared: [] },
  };
  let entries = 0;
  const nextId = () => {
    entries += 1;
    return sampleId(id, String(entries));
  };
  return withEntryIds(kind, object, nextId);
}

function membersOf(value: Json): Json {
  return Object.fromEntries((value as readonly string[]).map((id) => [id, ['api']]));
}
