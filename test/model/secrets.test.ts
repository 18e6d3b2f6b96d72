import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../src/model/declare/plan-environment.ts';
import { type Format, keyed, list, mapOf, object, secret, string } from '../../src/model/schema/field.ts';
import { sealedPrefix } from '../../src/model/schema/sealing.ts';
import { hasSecrets } from '../../src/model/schema/secret-fields.ts';
import { sealSecrets } from '../../src/model/schema/secrets.ts';

/** Lower case, no x. */
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
  test('are sealed wherever they stand, and nothing else is', () => {
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

  test.each(['****', 'abc****', ''])('stay when %j comes back', (back) => {
    const before = {
      pin: seal('p'),
      inner: { key: seal('k') },
      headers: { h: seal('x') },
      config: { token: seal('t') },
    };
    const body = { pin: back, inner: { key: back }, headers: { h: back }, config: { token: back } };
    expect(request(body, before)).toEqual({ spec: before, faults: [] });
  });

  test('stay sealed as they are when the same text comes again', () => {
    const before = { pin: `${sealedPrefix}o:pin` };
    const open = (sealed: string) => sealed.slice(`${sealedPrefix}o:`.length);
    const older = { ...planEnvironment, vault: { ...planEnvironment.vault, open } };
    expect(sealSecrets(fields, { pin: 'pin' }, target(before), older, 'request').spec).toEqual(before);
  });

  test('that are required cannot be a mask while none is kept; others are absent then', () => {
    const { spec, faults } = request({ pin: '****', extra: '****', headers: { h: '' } });
    expect(faults.map(({ code, path, message }) => `${code} ${path} ${message}`)).toEqual([
      'field_required  `pin` is required, and no value of it is kept yet; add it',
    ]);
    expect(spec).toEqual({ headers: {} });
  });

  test('are checked by their format before they are sealed, without being repeated', () => {
    const { faults } = request({ pin: 'secret-x' });
    expect(faults).toEqual([{ code: 'password_invalid', path: '/pin', message: 'write no x' }]);
  });

  test('may look like sealed ones: they are sealed all the same', () => {
    expect(request({ pin: seal('abc') }).spec).toEqual({ pin: seal(seal('abc')) });
  });

  test('leave a `null` in a map, which takes a member out', () => {
    expect(request({ pin: 'p', config: { token: null } }).spec['config']).toEqual({ token: null });
  });
});

describe('secrets of a document', () => {
  test('come from where they are named', () => {
    expect(document({ pin: from('SET'), config: { token: from('SET') } })).toEqual({
      spec: { pin: seal('found'), config: { token: seal('Found') } },
      faults: [],
    });
  });

  test('that are not set, or stand there as they are, are faults with their place', () => {
    const { faults } = document({ pin: from('UNSET'), config: { 'a/b': 'literal' } });
    expect(faults.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'secret_unset /pin/valueFrom',
      'secret_literal /config/a~1b',
    ]);
  });

  test('that stand in a Secret are for resources in a cluster alone', () => {
    const { faults } = document({ pin: { valueFrom: { secretKeyRef: { name: 'db', key: 'pin' } } } });
    expect(faults.map(({ path, message }) => `${path} ${message}`)).toEqual([
      '/pin/valueFrom secretKeyRef `db/pin` cannot be used: only resources in a cluster may name a Secret; name a variable by `envRef` or a file by `fileRef`',
    ]);
  });

  test('may be the sealed text that is kept, as an export has it, and no other', () => {
    const before = { pin: seal('p') };
    const again = (pin: string) => sealSecrets(fields, { pin }, target(before), planEnvironment, 'document');
    expect(again(seal('p'))).toEqual({ spec: before, faults: [] });
    expect(again(seal('q')).faults.map(({ code }) => code)).toEqual(['secret_literal']);
  });

  test('may stand there when that is allowed', () => {
    expect(document({ pin: 'p' }, true)).toEqual({ spec: { pin: seal('p') }, faults: [] });
  });
});

test('kinds without secrets are left alone', () => {
  expect(hasSecrets(fields)).toBe(true);
  const without = { name: fields.name };
  const spec = { name: 'n' };
  expect([hasSecrets(without), sealSecrets(without, spec, target(), planEnvironment, 'request').spec === spec]).toEqual(
    [false, true],
  );
});
