import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Kind } from '../../src/model/declare/kind.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../src/model/declare/plan-environment.ts';
import { fieldsOn, type Surface } from '../../src/model/lower/shape.ts';
import { withEntryIds } from '../../src/model/schema/entries.ts';
import type { AnyField } from '../../src/model/schema/field.ts';
import { canonicalSpec, canonicalStated } from '../../src/model/schema/normalize.ts';
import { mapReferences, mentionsOf } from '../../src/model/schema/references.ts';
import { boundPrefix } from '../../src/model/schema/sealing.ts';
import { sealSecrets } from '../../src/model/schema/secrets.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { completeSpec, contentFromSpec, membershipFields } from '../../src/model/state/members.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { applyUnits, diffUnits } from '../../src/model/state/units.ts';
import { planReplace } from '../../src/plan/requests/requests.ts';
import { unchangedBody } from '../../src/plan/requests/set-values.ts';
import { containersOf, declaredFields, withValue } from './declared-fields.ts';
import { registry, stateOf, stored } from './objects.ts';
import { rewritten, specs } from './spec-arbitrary.ts';

const validator = createValidator(registry);

/** Seals every text deterministically, without a secret key. */
const planEnvironment: PlanEnvironment = {
  ...emptyEnvironment,
  vault: {
    ...emptyEnvironment.vault,
    keyId: 'test',
    seal: (text) => `${boundPrefix}test:${Buffer.from(text).toString('base64url')}`,
    open: (text) => Buffer.from(text.split(':').at(-1) ?? '', 'base64url').toString(),
  },
  // A text that is valid for every secret field.
  valueFrom: () => 'c2VjcmV0',
  random: (bytes) => new Uint8Array(bytes).fill(7),
};

/** Returns the example as a surface accepts it. Over HTTP, the parent is in the path and secrets are plain values. */
function exampleOn(kind: Kind, surface: Surface): JsonObject {
  const fields = fieldsOn(kind, surface);
  const plain: PlanEnvironment = { ...planEnvironment, vault: { ...planEnvironment.vault, seal: (text) => text } };
  const example = surface === 'document' ? kind.example : secretsOf(kind, kind.example, plain);
  return Object.fromEntries(Object.entries(example).filter(([name]) => name in fields));
}

/** Returns the spec of a document with the values of the secrets that it refers to. */
function secretsOf(kind: Kind, spec: JsonObject, known: PlanEnvironment): JsonObject {
  const { spec: named, faults } = sealSecrets(
    kind.spec,
    spec,
    { account: 'a', object: 'o', form: 'bound' },
    known,
    'document',
  );
  expect(faults).toEqual([]);
  return named;
}

function check(kind: Kind, surface: Surface, spec: JsonObject): readonly string[] {
  return validator.check(kind.name, surface, spec).map(({ code, path }) => `${code} ${path}`);
}

it('kinds with memberships have no check, because a check receives every member, however many there are', () => {
  const withMembers = registry.kinds.filter((kind) => membershipFields(kind.spec).length > 0);
  expect(withMembers.map(({ name }) => name)).toContain('Group');
  expect(withMembers.filter((kind) => kind.check !== undefined)).toEqual([]);
});

describe.each(registry.kinds.map((kind) => [kind.name, kind] as const))('%s', (_, kind) => {
  const containers = {
    document: containersOf(fieldsOn(kind, 'document'), exampleOn(kind, 'document')),
    request: containersOf(fieldsOn(kind, 'request'), exampleOn(kind, 'request')),
  };

  it('has an example that passes validation as a document and as a request', () => {
    expect(check(kind, 'document', kind.example)).toEqual([]);
    expect(check(kind, 'request', exampleOn(kind, 'request'))).toEqual([]);
    const { spec, faults } = canonicalSpec(kind, secretsOf(kind, kind.example, planEnvironment));
    expect([...faults, ...(kind.check?.(spec as never) ?? [])]).toEqual([]);
  });

  it('has an example without local paths, local hosts or real domain names', () => {
    const text = JSON.stringify(kind.example);
    expect(text).not.toMatch(/\/home\/|\/Users\/|[A-Z]:\\\\|localhost|127\.0\.0\.1|file:/);
    expect(text.match(/[a-z\d-]+\.(com|org|net|io|dev)\b/g) ?? []).toEqual(
      (text.match(/example\.(com|org|net)\b/g) ?? []) as string[],
    );
  });

  it('documents every field in full sentences of at most 220 characters', () => {
    for (const { pointer, field } of declaredFields(containers.document)) {
      expect(field.doc, pointer).toMatch(/^[A-ZÀ-Þ0-9].*\.$/s);
      expect(field.doc.length, pointer).toBeLessThanOrEqual(220);
    }
  });

  it.each(['document', 'request'] as const)('refuses unknown fields anywhere in a %s', (surface) => {
    for (const { pointer } of containers[surface]) {
      const spec = withValue(exampleOn(kind, surface), `${pointer}/nonsense`, true);
      expect(check(kind, surface, spec)).toContain(`field_unknown ${pointer}/nonsense`);
    }
  });

  it.each(['document', 'request'] as const)('reports every missing required field of a %s', (surface) => {
    for (const { pointer, container, name, field } of declaredFields(containers[surface])) {
      const faults = validator.check(kind.name, surface, withValue(exampleOn(kind, surface), pointer, undefined));
      const named = faults.filter(
        ({ code, path, message }) => code === 'field_required' && path === container && message.includes(`\`${name}\``),
      );
      const fromKey = container === '' && name === 'name';
      const expected =
        field.required === true && (surface === 'request' || (field.documentDefault === undefined && !fromKey));
      expect(named.length, `${surface} ${pointer}`).toBe(expected ? 1 : 0);
    }
  });

  it('refuses values of the wrong type', () => {
    for (const { pointer, field } of declaredFields(containers.request)) {
      const faults = check(kind, 'request', withValue(exampleOn(kind, 'request'), pointer, wrongTypeFor(field)));
      expect(faults, pointer).toContain(`type_wrong ${pointer}`);
    }
  });

  it('accepts values at each limit and refuses those one step past it', () => {
    for (const { pointer, field } of declaredFields(containers.request)) {
      for (const { code, inside, outside } of limitsOf(field)) {
        const faultsWith = (value: Json) =>
          check(kind, 'request', withValue(exampleOn(kind, 'request'), pointer, value));
        expect(faultsWith(outside), pointer).toContain(`${code} ${pointer}`);
        expect(faultsWith(inside), pointer).not.toContain(`${code} ${pointer}`);
      }
    }
  });

  it('has one canonical form: canonicalising is idempotent and ignores order and repeats', () => {
    fc.assert(
      fc.property(specs(kind.spec), (spec) => {
        const once = canonicalSpec(kind, spec).spec;
        expect(canonicalSpec(kind, once).spec).toEqual(once);
        expect(canonicalSpec(kind, rewritten(kind.spec, spec)).spec).toEqual(once);
        const stated = canonicalStated(kind, spec).spec;
        expect(canonicalStated(kind, stated).spec).toEqual(stated);
      }),
    );
  });

  it('has a stated form that contains only members of its full form', () => {
    const full = canonicalSpec(kind, kind.example).spec;
    expectWithin(canonicalStated(kind, kind.example).spec, full);
    fc.assert(
      fc.property(specs(kind.spec), (spec) =>
        expectWithin(canonicalStated(kind, spec).spec, canonicalSpec(kind, spec).spec),
      ),
    );
  });

  it('returns on a read a body that a replace accepts without any change', () => {
    const object = stored(kind.name, 'own', withKnownReferences(kind));
    const state = stateOf(...referents(kind), object).with({
      put: [withEntryIds(kind, object, () => 'entry')],
      remove: [],
    });
    const before = state.get('own') ?? object;
    const body = unchangedBody(state, before);
    const context = {
      snapshot: state,
      validator,
      strict: true,
      now: '2026-01-02T03:04:05Z',
      newId: () => 'new',
      planEnvironment,
    };
    const outcome = planReplace(context, kind, before, body);
    expect(outcome.ok ? outcome.plan.changes : outcome.problems).toEqual([]);
  });

  it('turns any spec into any other by applying the units that differ', () => {
    fc.assert(
      fc.property(specs(kind.spec), specs(kind.spec), (one, other) => {
        const stored = (spec: JsonObject) => contentFromSpec(kind.spec, canonicalSpec(kind, spec).spec);
        const [before, after] = [stored(one), stored(other)];
        const changes = diffUnits(kind.spec, before, after);
        const result = applyUnits(kind.spec, before, changes);
        expect(diffUnits(kind.spec, result, after)).toEqual([]);
        expect(canonicalSpec(kind, completeSpec(result)).spec).toEqual(completeSpec(after));
        expect(diffUnits(kind.spec, after, after)).toEqual([]);
      }),
    );
  });
});

/**
 * Returns the example with references by the ids of `referents`. References to kinds that are not registered yet are
 * removed.
 */
function withKnownReferences(kind: Kind): JsonObject {
  return mapReferences(kind.spec, secretsOf(kind, kind.example, planEnvironment), (mention) =>
    registry.find(mention.kind) === undefined ? undefined : `${mention.kind}-${mention.text}`,
  );
}

/** Returns an object for each reference of an example, with arbitrary contents. */
function referents(kind: Kind): readonly StoredObject[] {
  return mentionsOf(kind.spec, withKnownReferences(kind)).map(({ kind: target, text }) => ({
    ...stored(target, text, { ...registry.get(target).example, peers: [], distribution_groups: [] }),
    name: text,
  }));
}

/**
 * Checks that `whole` contains every member of `part` with the same value. Compares nested objects member by member.
 */
function expectWithin(part: JsonObject, whole: JsonObject): void {
  for (const [name, value] of Object.entries(part)) {
    const other = whole[name];
    if (isObject(value) && isObject(other)) expectWithin(value as JsonObject, other as JsonObject);
    else expect(other, name).toEqual(value);
  }
}

function wrongTypeFor(field: AnyField): Json {
  switch (field.type) {
    case 'string':
    case 'enum':
    case 'ref':
    case 'refByType':
    case 'secret':
      return 5432;
    case 'integer':
      return '5432';
    case 'boolean':
      return 'true';
    default:
      return 'text';
  }
}

interface Limit {
  readonly code: string;
  readonly inside: Json;
  readonly outside: Json;
}

function limitsOf(field: AnyField): readonly Limit[] {
  const text = (length: number) => 'x'.repeat(length);
  const items = (count: number) => Array.from({ length: count }, (_, at) => `x${at}`);
  const list = (count: number): Json =>
    field.type === 'keyed' ? Array.from({ length: count }, () => ({})) : items(count);
  switch (field.type) {
    case 'string':
      return [
        ...limit('value_too_short', field.minLength, -1, text),
        ...limit('value_too_long', field.maxLength, 1, text),
      ];
    case 'integer':
      return [
        ...limit('value_out_of_range', field.minimum, -1, (value) => value),
        ...limit('value_out_of_range', field.maximum, 1, (value) => value),
      ];
    case 'list':
      return [...limit('list_too_short', field.minItems, -1, list), ...limit('list_too_long', field.maxItems, 1, list)];
    case 'refs':
    case 'keyed':
      return limit('list_too_short', field.minItems, -1, list);
    default:
      return [];
  }
}

function limit(code: string, bound: number | undefined, step: 1 | -1, build: (at: number) => Json): readonly Limit[] {
  return bound === undefined ? [] : [{ code, inside: build(bound), outside: build(bound + step) }];
}
