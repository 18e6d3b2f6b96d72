import { expect, it } from 'vitest';
import { recordSource } from '../../src/features/sources/sources.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { sealContextOf } from '../../src/model/schema/secret-fields.ts';
import { endOverrides } from '../../src/objects/overrides.ts';
import { present } from '../setup/present.ts';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { type Answer, sharedApi } from './setup.ts';

/** Overrides of a secret or of the address to which it is sent: the secret is never sent to the other address. */

const api = sharedApi({ literalSecrets: true });
const streams = '/api/event-streaming';
const ends = '/api/config/overrides/end';
const good = 'https://good.example.com';
const other = 'https://other.example.net';
const stored = { valueFrom: { stored: true } };
const breakGlass = (ttl = '4h') => ({ 'x-break-glass': 'incident 4711', 'x-break-glass-ttl': ttl });
const refusedKey = [422, ['secret_address_changed /config/api_key']];

/** A stream with a name of its own, which one source or several sources state. */
function streamOf(name: string) {
  let id = '';
  const keyIn = (object: string, { config }: JsonObject) => {
    const context = sealContextOf(api().account, object, ['config', 'api_key']);
    return api().engine.planEnvironment.vault.open(
      (config as Readonly<Record<string, string>>)['api_key'] ?? '',
      context,
    );
  };
  const stated = (config: JsonObject) =>
    doc('EventStreaming', name, JSON.stringify({ platform: 'datadog', enabled: true, config }));
  const find = async () => {
    const snapshot = await api().engine.snapshots.fresh(api().account);
    return present([...snapshot.objects()].find(({ kind, key }) => kind === 'EventStreaming' && key === name));
  };
  const self = {
    apply: async (config: JsonObject, source = name) => {
      const files = [{ path: 'a.yaml', text: stated(config) }];
      const answer = await api().call('POST', '/api/config/apply', { source, files });
      if (answer.status === 200) id = (await find()).id.replace('eventstreaming-', '');
      return answer;
    },
    put: (config: JsonObject, headers: Readonly<Record<string, string>> = breakGlass()) =>
      api().call('PUT', `${streams}/${id}`, { platform: 'datadog', enabled: true, config }, headers),
    end: (...paths: readonly string[]) => api().call('POST', ends, { kind: 'EventStreaming', name, paths }),
    /** Returns the address and the secret that are in effect, and the number of overrides. */
    now: async () => {
      const { id: object, spec, overrides = [] } = await find();
      const url = (await api().call('GET', `${streams}/${id}`)).body.config.api_url;
      return [url, keyIn(object, spec), overrides.length];
    },
    /** Returns the secret that a source states. */
    declaredKey: async (source = name) => {
      const { id: object, declared } = await find();
      return keyIn(object, present(declared.find((declaration) => declaration.source === source)).stated);
    },
  };
  return self;
}

/** Ends overrides as of a number of hours from now. */
async function afterHours(hours: number): Promise<void> {
  const now = () => new Date(Date.now() + hours * 3_600_000).toISOString();
  const { engine, account } = api();
  await endOverrides({ ...engine, now, databaseTime: async () => now() }, account);
}

/** Records a source that only reports when requests change what it states. */
async function observe(id: string): Promise<void> {
  const actor = { type: 'source', id, name: id } as const;
  const source = { id, type: 'push', spec: { conflictMode: 'observe' } } as const;
  await recordSource(api().engine, { account: api().account, actor }, source);
}

function statusOf(answer: Answer): readonly [number, readonly string[]] {
  return [answer.status, problemsOf(answer)];
}

it.each(['api_key', 'api_url'])(
  'the override of `config[%s]` does not end alone, but together with the other',
  async (name) => {
    const stream = streamOf(`alone-${name.replace('_', '-')}`);
    await stream.apply({ api_url: good, api_key: 'stated' });
    expect((await stream.put({ api_url: other, api_key: 'own' })).status).toBe(200);
    expect(statusOf(await stream.end(`config[${name}]`))).toEqual(refusedKey);
    expect(await stream.now()).toEqual([other, 'own', 2]);
    expect((await stream.end('config[api_url]', 'config[api_key]')).status).toBe(200);
    expect(await stream.now()).toEqual([good, 'stated', 0]);
  },
);

it('the override of the headers of a stream does not end while its address stays overridden', async () => {
  const name = 'headers';
  const spec = { platform: 'generic_http', enabled: true };
  const text = doc(
    'EventStreaming',
    name,
    JSON.stringify({ ...spec, config: { url: good, headers: '{"X-Key":"s"}' } }),
  );
  await api().call('POST', '/api/config/apply', { source: name, files: [{ path: 'a.yaml', text }] });
  const list = (await api().call('GET', streams)).body;
  const { id } = list.find(({ config }: { config: JsonObject }) => config['url'] === good);
  const body = { ...spec, config: { url: other, headers: '{"X-Key":"own"}' } };
  expect((await api().call('PUT', `${streams}/${id}`, body, breakGlass())).status).toBe(200);
  const ended = await api().call('POST', ends, { kind: 'EventStreaming', name, paths: ['config[headers]'] });
  expect(statusOf(ended)).toEqual([422, ['secret_address_changed /config/headers']]);
});

it('the override of a token of an EDR integration does not end while its address stays overridden', async () => {
  const path = '/api/integrations/edr/vendor-a';
  const group = await api().group('edr');
  const rest = { last_synced_interval: 24, enabled: true, match_attributes: {} };
  const text = doc(
    'EdrVendorA',
    'edr-vendor-a',
    JSON.stringify({ ...rest, groups: ['edr'], api_url: good, api_token: 't' }),
  );
  const applied = await api().call('POST', '/api/config/apply', { source: 'edr', files: [{ path: 'a.yaml', text }] });
  expect(statusOf(applied)).toEqual([200, []]);
  const body = { ...rest, groups: [group], api_url: other, api_token: 'own' };
  expect((await api().call('PUT', path, body, breakGlass())).status).toBe(200);
  const end = (paths: readonly string[]) =>
    api().call('POST', ends, { kind: 'EdrVendorA', name: 'edr-vendor-a', paths: [...paths] });
  expect(statusOf(await end(['api_token']))).toEqual([422, ['secret_address_changed /api_token']]);
  expect((await end([])).status).toBe(200);
  expect((await api().call('GET', path)).body.api_url).toBe(good);
});

it.each(['stated', 'own'])(
  'an override of the address with the secret `%s` expires, and the stated values return',
  async (key) => {
    const stream = streamOf(`expires-${key}`);
    await stream.apply({ api_url: good, api_key: 'stated' });
    expect((await stream.put({ api_url: other, api_key: key })).status).toBe(200);
    await afterHours(5);
    expect(await stream.now()).toEqual([good, 'stated', 0]);
  },
);

it('an override of the secret alone expires, and the stated secret returns', async () => {
  const stream = streamOf('rotated');
  await stream.apply({ api_url: good, api_key: 'stated' });
  expect((await stream.put({ api_url: good, api_key: 'own' })).status).toBe(200);
  await afterHours(5);
  expect(await stream.now()).toEqual([good, 'stated', 0]);
});

it('a stated secret does not return beside an address that stays changed when the override of the secret expires', async () => {
  await observe('drifted');
  const stream = streamOf('drifted');
  await stream.apply({ api_url: good, api_key: 'stated' });
  expect((await stream.put({ api_url: other, api_key: 'first' }, {})).status).toBe(200);
  expect((await stream.put({ api_url: other, api_key: 'own' })).status).toBe(200);
  expect(await stream.now()).toEqual([other, 'own', 1]);
  await afterHours(5);
  expect(await stream.now()).toEqual([other, 'own', 0]);
});

it('a secret stated without an address does not return to an address that a user chose', async () => {
  const stream = streamOf('no-address');
  await stream.apply({ api_key: 'stated' });
  expect((await stream.put({ api_url: other, api_key: 'own' })).status).toBe(200);
  expect(statusOf(await stream.end('config[api_key]'))).toEqual(refusedKey);
  await afterHours(5);
  expect(await stream.now()).toEqual([other, 'own', 0]);
  // The document does not know the address either, until it states one.
  const again = await stream.apply({ api_key: 'stated' });
  expect(statusOf(again)).toEqual([422, ['secret_address_changed /spec/config/api_key']]);
  expect((await stream.apply({ api_url: good, api_key: 'stated' })).status).toBe(200);
  expect(await stream.now()).toEqual([good, 'stated', 0]);
});

it('a new secret stated without an address is not sent to an address that a user chose with another secret', async () => {
  const stream = streamOf('renewed');
  await stream.apply({ api_key: 'stated' });
  expect((await stream.put({ api_url: other, api_key: 'own' })).status).toBe(200);
  await afterHours(5);
  expect(await stream.now()).toEqual([other, 'own', 0]);
  const renewed = await stream.apply({ api_key: 'new' });
  expect(statusOf(renewed)).toEqual([422, ['secret_address_changed /spec/config/api_key']]);
  expect(await stream.now()).toEqual([other, 'own', 0]);
  expect((await stream.apply({ api_url: good, api_key: 'new' })).status).toBe(200);
  expect(await stream.now()).toEqual([good, 'new', 0]);
});

it('a new secret stated without an address is sent to the address that the user gave for the stated secret', async () => {
  const stream = streamOf('same-secret');
  await stream.apply({ api_key: 'stated' });
  expect((await stream.put({ api_url: good, api_key: 'stated' }, {})).status).toBe(200);
  expect(statusOf(await stream.apply({ api_key: 'new' }))).toEqual([200, []]);
  expect(await stream.now()).toEqual([good, 'new', 0]);
});

it('a document that states another address does not redirect the secret of an override', async () => {
  const stream = streamOf('redirect');
  await stream.apply({ api_url: good, api_key: 'stated' });
  expect((await stream.put({ api_url: good, api_key: 'own' })).status).toBe(200);
  // The secret that the document gives is not applied, because it is overridden.
  const moved = await stream.apply({ api_url: other, api_key: 'new' });
  expect(statusOf(moved)).toEqual([422, ['secret_address_changed /spec/config/api_key']]);
  expect(await stream.now()).toEqual([good, 'own', 1]);
});

it('an address is moved only by a document that states the secret too, if another source states the secret', async () => {
  const stream = streamOf('apart');
  await stream.apply({ api_url: good, api_key: 'stated' });
  await stream.apply({ api_key: 'stated' }, 'keys');
  expect((await stream.apply({ api_url: good })).status).toBe(200);
  const refused = await stream.apply({ api_url: other });
  expect(statusOf(refused)).toEqual([422, ['secret_address_changed /spec/config/api_key']]);
  expect(refused.body.message).toContain('state its value and the address in one document');
  expect(statusOf(await stream.apply({ api_url: other, api_key: 'stated' }))).toEqual([200, []]);
  expect(await stream.now()).toEqual([other, 'stated', 0]);
});

it('a document does not redirect a secret that a source in mode `observe` leaves unchanged', async () => {
  await observe('observed');
  const stream = streamOf('observed');
  await stream.apply({ api_url: good, api_key: 'stated' });
  expect((await stream.put({ api_url: good, api_key: 'own' }, {})).status).toBe(200);
  const moved = await stream.apply({ api_url: other, api_key: 'stated' });
  expect(statusOf(moved)).toEqual([422, ['secret_address_changed /spec/config/api_key']]);
  expect(await stream.now()).toEqual([good, 'own', 0]);
});

it('a document cannot state another address for a kept secret while both are overridden', async () => {
  const stream = streamOf('declared');
  await stream.apply({ api_url: good, api_key: 'stated' });
  await stream.put({ api_url: 'https://third.example.org', api_key: 'own' });
  const moved = await stream.apply({ api_url: other, api_key: stored });
  expect(statusOf(moved)).toEqual([422, ['secret_address_changed /spec/config/api_key']]);
});

it('a document with `stored: true` keeps the stated secret while it is overridden', async () => {
  const stream = streamOf('kept');
  await stream.apply({ api_url: good, api_key: 'stated' });
  expect((await stream.put({ api_url: other, api_key: 'own' })).status).toBe(200);
  expect(statusOf(await stream.apply({ api_url: good, api_key: stored }))).toEqual([200, []]);
  expect(await stream.now()).toEqual([other, 'own', 2]);
  await afterHours(5);
  expect(await stream.now()).toEqual([good, 'stated', 0]);
});

it('a document with `stored: true` keeps the stated secret while the mode `observe` keeps another one', async () => {
  await observe('kept-observed');
  const stream = streamOf('kept-observed');
  await stream.apply({ api_url: good, api_key: 'stated' });
  expect(statusOf(await stream.apply({ api_url: good, api_key: stored }))).toEqual([200, []]);
  expect((await stream.put({ api_url: other, api_key: 'own' }, {})).status).toBe(200);
  const applied = await stream.apply({ api_url: good, api_key: stored });
  expect(statusOf(applied)).toEqual([200, []]);
  expect(JSON.stringify(applied.body.plan.warnings)).toContain(
    'keeps the stated secret, so name the origin of its value',
  );
  const refused = await stream.apply({ api_url: other, api_key: stored });
  expect(statusOf(refused)).toEqual([422, ['secret_address_changed /spec/config/api_key']]);
  expect(refused.body.message).toContain('keeps the stated secret, not the present one');
  expect(await stream.now()).toEqual([other, 'own', 0]);
  expect(await stream.declaredKey()).toBe('stated');
});

it('a document with `stored: true` keeps the secret that another source states while it is overridden', async () => {
  const stream = streamOf('kept-second');
  await stream.apply({ api_url: good, api_key: 'stated' });
  await stream.put({ api_url: good, api_key: 'own' });
  expect(statusOf(await stream.apply({ api_url: good, api_key: stored }, 'other-source'))).toEqual([200, []]);
  expect(await stream.declaredKey('other-source')).toBe('stated');
  expect(await stream.now()).toEqual([good, 'own', 1]);
});

it('a rollback keeps the stated secret in the declaration while the mode `observe` keeps another one', async () => {
  await observe('rolled-observed');
  const stream = streamOf('rolled-observed');
  await stream.apply({ api_url: good, api_key: 'stated' });
  const then = await api().revision();
  await stream.apply({ api_url: good, api_key: 'stated', site: 'datadoghq.eu' });
  await stream.put({ api_url: good, api_key: 'own', site: 'datadoghq.eu' }, {});
  const back = await api().call('POST', `/api/config/revisions/${then}/rollback`, { scope: 'source:rolled-observed' });
  expect(statusOf(back)).toEqual([201, []]);
  expect((await api().call('POST', `/api/config/plans/${back.body.id}/apply`, {})).status).toBe(200);
  expect(await stream.now()).toEqual([good, 'own', 0]);
  expect(await stream.declaredKey()).toBe('stated');
});

it('a rollback during an override keeps the stated secret in the declaration', async () => {
  const stream = streamOf('rolled-back');
  await stream.apply({ api_url: good, api_key: 'stated' });
  const then = await api().revision();
  await stream.apply({ api_url: good, api_key: 'stated', site: 'datadoghq.eu' });
  await stream.put({ api_url: other, api_key: 'own', site: 'datadoghq.eu' });
  const back = await api().call('POST', `/api/config/revisions/${then}/rollback`, { scope: 'source:rolled-back' });
  expect(statusOf(back)).toEqual([201, []]);
  expect((await api().call('POST', `/api/config/plans/${back.body.id}/apply`, {})).status).toBe(200);
  await afterHours(5);
  expect(await stream.now()).toEqual([good, 'stated', 0]);
});

it('a rollback does not restore a deleted object with a stated secret and an address that a user chose', async () => {
  const stream = streamOf('deleted');
  await stream.apply({ api_key: 'stated' });
  await stream.put({ api_url: other, api_key: 'own' });
  const then = await api().revision();
  const text = doc('Group', 'rest', '{}');
  const files = [{ path: 'a.yaml', text }];
  const gone = await api().call('POST', '/api/config/apply?allowDelete=true', { source: 'deleted', files });
  expect(statusOf(gone)).toEqual([200, []]);
  const back = await api().call('POST', `/api/config/revisions/${then}/rollback`, { scope: 'source:deleted' });
  expect(statusOf(back)).toEqual(refusedKey);
});
