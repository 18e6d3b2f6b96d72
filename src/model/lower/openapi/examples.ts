import { asObjects, type Json, type JsonObject } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { Kind } from '../../declare/kind.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../declare/plan-environment.ts';
import type { Registry } from '../../declare/registry.ts';
import { numberedId } from '../../declare/wire-id.ts';
import { withEntryIds } from '../../schema/entries.ts';
import { type Fields, isEmpty } from '../../schema/field.ts';
import { entriesOf } from '../../schema/field-search.ts';
import { canonicalSpec } from '../../schema/normalize.ts';
import { type Mention, mapReferences, mentionsOf } from '../../schema/references.ts';
import { sealSecrets } from '../../schema/secrets.ts';
import { contentFromSpec } from '../../state/members.ts';
import type { StoredObject } from '../../state/object.ts';
import { emptySnapshot, type Snapshot } from '../../state/snapshot.ts';
import { lowerToResponse } from '../response.ts';
import { fieldsOn } from '../shape.ts';

/** Example of a kind in requests and responses. */
export interface Examples {
  request(kind: Kind): JsonObject;
  /** The body of a replace, which may have fewer members than that of a create. */
  replacement(kind: Kind): JsonObject;
  response(kind: Kind): JsonObject;
  /** The response to a create, including the values that are shown once. */
  created(kind: Kind): JsonObject;
}

/** Creates the examples of all kinds. The responses are those of an account that contains the example of every kind. */
export function createExamples(registry: Registry): Examples {
  const snapshot = exampleAccount(registry);
  const response = (kind: Kind): JsonObject => {
    const object = snapshot.get(ownId(kind));
    return object === undefined ? {} : lowerToResponse(registry, object, snapshot);
  };
  return {
    request: (kind) => withoutOmittedMembers(fieldsOn(kind, 'request'), exampleSpec(kind)),
    replacement: (kind) => withoutOmittedMembers(fieldsOn(kind, 'replace'), exampleSpec(kind)),
    response,
    created(kind) {
      const object = snapshot.get(ownId(kind));
      return { ...response(kind), ...(object === undefined ? {} : kind.generate?.(object, generatorInput)?.outputs) };
    },
  };
}

/** Fixed inputs, so that the examples are the same in every run. */
const generatorInput = { now: '2026-01-02T03:04:05.000Z', random: (bytes: number) => new Uint8Array(bytes).fill(7) };

/** HTTP requests contain secrets in plain text. The text here is valid for every kind of secret. */
const exampleEnvironment: PlanEnvironment = {
  ...emptyEnvironment,
  literalSecrets: true,
  valueFrom: () => 'c2VjcmV0',
  vault: { ...emptyEnvironment.vault, seal: (text) => text },
};

/** Placeholder, because the vault here seals nothing. */
const exampleTarget = { account: '', object: '', form: 'bound' } as const;

function withoutOmittedMembers(fields: Fields, spec: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, field] of entriesOf(fields)) {
    const value = spec[name];
    if (value === undefined || (field.omitEmpty !== undefined && isEmpty(value))) continue;
    const entries = field.type === 'keyed' ? asObjects(value) : undefined;
    result[name] =
      field.type === 'keyed' && entries !== undefined
        ? entries.map((entry) => withoutOmittedMembers(field.fields, entry))
        : value;
  }
  return result;
}

function exampleSpec(kind: Kind): JsonObject {
  const idOf = ({ kind: target, text, field }: Mention) =>
    field === kind.parent?.field ? exampleId(target) : sampleId(target, text);
  const spec = sealSecrets(kind.spec, kind.example, exampleTarget, exampleEnvironment, 'document').spec;
  return mapReferences(kind.spec, canonicalSpec(kind, spec).spec, idOf);
}

/** Returns the id of the example of a kind. */
function ownId(kind: Kind): string {
  return kind.ids === 'integer' ? numberedId(kind, 1) : exampleId(kind.name);
}

function exampleId(kind: string): string {
  return sampleId(kind, '');
}

/** Returns an id derived from a name: the same for each mention of the name, in the alphabet of real ids. */
function sampleId(kind: string, key: string): string {
  return sha256(`${kind}/${key}`).slice(0, 20);
}

/** Returns a snapshot with the example of every kind, and a stand-in for every object that examples refer to. */
function exampleAccount(registry: Registry): Snapshot {
  const objects = new Map<string, StoredObject>();
  const put = (object: StoredObject) => objects.set(object.id, object);
  for (const kind of registry.kinds) {
    for (const { kind: target, text } of mentionsOf(kind.spec, kind.example)) {
      const named = registry.find(target);
      if (named !== undefined) put(placeholderObject(named, text));
    }
  }
  for (const kind of registry.kinds) put(storedExample(kind, ownId(kind), exampleSpec(kind)));
  return emptySnapshot(registry, exampleId('Account')).with({ put: [...objects.values()], remove: [] });
}

/** Returns an object that has the given key as its name and refers to no other object. */
function placeholderObject(kind: Kind, key: string): StoredObject {
  const alone = mapReferences(kind.spec, canonicalSpec(kind, kind.example).spec, () => undefined);
  const name = kind.nameField in kind.spec ? { [kind.nameField]: key } : {};
  return storedExample(kind, sampleId(kind.name, key), { ...alone, ...name });
}

function storedExample(kind: Kind, id: string, spec: JsonObject): StoredObject {
  const at = '2026-01-02T03:04:05.000Z';
  const object: StoredObject = {
    ...{ id, kind: kind.name, name: String(spec[kind.nameField] ?? ''), derived: {} },
    ...contentFromSpec(kind.spec, spec),
    ...(kind.parent === undefined ? {} : { parent: exampleId(kind.parent.kind) }),
    ...{ protected: false, createdRevision: 1, updatedRevision: 1, createdAt: at, updatedAt: at, declared: [] },
  };
  const generated = kind.generate?.(object, generatorInput);
  let entries = 0;
  const nextId = () => {
    entries += 1;
    return sampleId(id, String(entries));
  };
  return withEntryIds(kind, generated === undefined ? object : { ...object, derived: generated.derived }, nextId);
}
