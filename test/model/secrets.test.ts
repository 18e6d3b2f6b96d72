import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../src/model/declare/plan-environment.ts';
import { keyed, list, mapOf, object, secret, string } from '../../src/model/schema/field.ts';
import type { Format } from '../../src/model/schema/format.ts';
import { sealedPrefix } from '../../src/model/schema/sealing.ts';
import { hasSecrets } from '../../src/model/schema/secret-fields.ts';
import { sealSecrets } from '../../src/model/schema/secrets.ts';

/** Format that rejects the letter x, and canonicalises to lower case. */
const plain: Format = {
  name: 'password',
  canonical: (text) => (text.includes('x') ? { fault: 'write no x' } : { value: text.toLowerCase() }),
};

const hidden = secret({ doc: 'Hidden.', read: 'masked' });

const fields = {
  name: string({ doc: 'Name.' }),
  pin: secret({ doc: 'Pin.', required: true, format: plain }),
  extra: secret({ doc: 'Extra.', read: 'masked' }),
  inner: object({ key: secret({ doc: 'Key.' }) }, { doc: 'Inner.' }),
  entries: keyed({ id: string({ doc: 'Id.' }), value: secret({ doc: 'Value.' }) }, { doc: 'Entries.', key: 'id' }),
  texts: list(secret({ doc: 'Text.' }), { doc: 'Texts.' }),
  headers: mapOf(secret({ doc: 'Value.' }), { doc: 'Headers.' }),
  config: mapOf(string({ doc: 'Value.' }), { doc: 'Config.', secrets: { token: hidden, 'a/b': hidden } }),
  named: mapOf(string({ doc: 'Value.' }), {
    ...{ doc: 'Config.', secrets: { token: hidden, key: hidden }, keyAliases: { key: 'token' } },
  }),
};

const seal = (text: string) => `${sealedPrefix}k:${text}`;
const planEnvironment: PlanEnvironment = {
  ...emptyEnvironment,
  vault: { ...emptyEnvironment.vault, keyId: 'k', seal, open: (sealed) => sealed.slice(seal('').length) },
  valueFrom: (origin, name) => (origin === 'envRef' && name === 'SET' ? 'Found' : undefined),
};
const from = (name: string): Json => ({ valueFrom: { envRef: name } });
const target = (before?: JsonObject) => ({ account: 'a', object: 'o', form: 'bound', before }) as const;
const request = (spec: JsonObject, before?: JsonObject) =>
  sealSecrets(fields, spec, target(before), planEnvironment, 'request');
const document = (spec: JsonObject, literalSecrets = false) =>
  sealSecrets(fields, spec, target(), { ...planEnvironment, literalSecrets }, 'document');

describe('secrets of a request', () => {
  test('are sealed wherever they occur, and nothing else is', () => {
    const { spec, faults } = request({
      ...{ name: 'n', pin: 'P', inner: { key: 'k' }, entries: [{ id: 'a', value: 'v' }], texts: ['t'] },
      ...{ headers: { h: 'x' }, config: { token: 't', 'a/b': 'c', site: 's' } },
    });
    expect(faults).toEqual([]);
    expect(spec).toEqual({
      ...{ name: 'n', pin: seal('p'), inner: { key: seal('k') }, entries: [{ id: 'a', value: seal('v') }] },
      ...{ texts: [seal('t')], headers: { h: seal('x') } },
      config: { token: seal('t'), 'a/b': seal('c'), site: 's' },
    });
  });

  test.each(['****', 'abc****', ''])('are kept when %j is sent back', (back) => {
    const before = {
      pin: seal('p'),
      inner: { key: seal('k') },
      headers: { h: seal('x') },
      config: { token: seal('t') },
    };
    const body = { pin: back, inner: { key: back }, headers: { h: back }, config: { token: back } };
    expect(request(body, before)).toEqual({ spec: before, faults: [], given: [] });
  });

  test('keep their sealed text when the same value is sent again', () => {
    const before = { pin: `${sealedPrefix}o:pin` };
    const open = (sealed: string) => sealed.slice(`${sealedPrefix}o:`.length);
    const older = { ...planEnvironment, vault: { ...planEnvironment.vault, open } };
    expect(sealSecrets(fields, { pin: 'pin' }, target(before), older, 'request').spec).toEqual(before);
  });

  test('are refused as a mask when they are not stored yet', () => {
    const { spec, faults } = request({ pin: '****', extra: '****', headers: { h: '', m: 'Bearer ****' } });
    expect(faults.map(({ code, path, message }) => `${code} ${path} ${message}`)).toEqual([
      'field_required  `pin` is required, and no value is stored yet; add it',
      'secret_unset /extra `extra` is masked, and no value is stored for it; send its value, or leave it out',
      'secret_unset /headers/m `m` is masked, and no value is stored for it; send its value, or leave it out',
    ]);
    expect(spec).toEqual({ headers: {} });
  });

  test('are validated by their format before sealing, and are not repeated in the message', () => {
    const { faults } = request({ pin: 'secret-x' });
    expect(faults).toEqual([{ code: 'password_invalid', path: '/pin', message: 'write no x' }]);
  });

  test('are sealed even if they look like sealed text', () => {
    expect(request({ pin: seal('abc') }).spec).toEqual({ pin: seal(seal('abc')) });
  });

  test.each([
    [
      { token: '****', key: '****' },
      { token: seal('t'), key: seal('t') },
    ],
    [
      { token: '', key: '' },
      { token: seal('t'), key: seal('t') },
    ],
    [
      { token: null, key: '****' },
      { token: null, key: seal('t') },
    ],
    [{ token: '', key: 'new' }, { key: seal('new') }],
    [{ token: 'a****', key: 'new' }, { key: seal('new') }],
    [{ token: 'new', key: '****' }, { token: seal('new') }],
  ])('with two names for one member keep the stored value only if neither name has a value: %j', (config, sealed) => {
    const before = { pin: seal('p'), named: { token: seal('t') } };
    const { spec, faults } = request({ pin: 'p', named: config }, before);
    expect([spec['named'], faults]).toEqual([sealed, []]);
  });

  test('keep a `null` in a map, which removes a member', () => {
    expect(request({ pin: 'p', config: { token: null } }).spec['config']).toEqual({ token: null });
  });
});

describe('secrets of a document', () => {
  test('are read from what `valueFrom` names', () => {
    expect(document({ pin: from('SET'), config: { token: from('SET') } })).toEqual({
      spec: { pin: seal('found'), config: { token: seal('Found') } },
      ...{ faults: [], given: ['/pin', '/config/token'] },
    });
  });

  test('are reported with their path when they are unset or literal', () => {
    const { faults } = document({ pin: from('UNSET'), config: { 'a/b': 'literal' } });
    expect(faults.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'secret_unset /pin/valueFrom',
      'secret_literal /config/a~1b',
    ]);
  });

  test('may refer to a Kubernetes Secret only in resources of a cluster', () => {
    const { faults } = document({ pin: { valueFrom: { secretKeyRef: { name: 'db', key: 'pin' } } } });
    expect(faults.map(({ path, message }) => `${path} ${message}`)).toEqual([
      '/pin/valueFrom secretKeyRef `db/pin` cannot be used: only resources in a cluster may name a Secret; name a variable by `envRef` or a file by `fileRef`',
    ]);
  });

  test('may be the stored sealed text, as in an export, but no other sealed text', () => {
    const before = { pin: seal('p') };
    const again = (pin: string) => sealSecrets(fields, { pin }, target(before), planEnvironment, 'document');
    expect(again(seal('p'))).toEqual({ spec: before, faults: [], given: [] });
    expect(again(seal('q')).faults.map(({ code }) => code)).toEqual(['secret_literal']);
  });

  test.each([[{ valueFrom: { stored: true } }], [seal('t')]])(
    'with two names for one member do not keep the stored value as %j beside a new value',
    (kept) => {
      const before = { pin: seal('p'), named: { token: seal('t') } };
      const again = (named: JsonObject) =>
        sealSecrets(fields, { pin: seal('p'), named }, target(before), planEnvironment, 'document');
      const named = { token: seal('Found') };
      expect(again({ token: from('SET'), key: kept })).toEqual({
        spec: { pin: seal('p'), named },
        ...{ faults: [], given: ['/named/token'] },
      });
      expect(again({ token: kept, key: kept }).given).toEqual([]);
    },
  );

  test('may be literal when that is allowed', () => {
    expect(document({ pin: 'p' }, true)).toEqual({ spec: { pin: seal('p') }, faults: [], given: ['/pin'] });
  });
});

test('specs of kinds without secrets are returned unchanged', () => {
  expect(hasSecrets(fields)).toBe(true);
  const without = { name: fields.name };
  const spec = { name: 'n' };
  expect([hasSecrets(without), sealSecrets(without, spec, target(), planEnvironment, 'request').spec === spec]).toEqual(
    [false, true],
  );
});
