import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { sealContextOf } from '../../src/model/schema/secret-fields.ts';
import { present } from '../setup/present.ts';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { sharedApi } from './setup.ts';

/** A secret that a document states without an address is not sent to an address that somebody else chose. */

const api = sharedApi({ literalSecrets: true });
const streams = '/api/event-streaming';
const good = 'https://good.example.com';
const other = 'https://other.example.net';

/** A stream with a name of its own, which several sources state. */
function streamOf(name: string, platform: string, secret: string) {
  const find = async () => {
    const snapshot = await api().engine.snapshots.fresh(api().account);
    return present([...snapshot.objects()].find(({ kind, key }) => kind === 'EventStreaming' && key === name));
  };
  return {
    /** Applies a document of a source, and returns the status and the problems. */
    apply: async (source: string, config: JsonObject, options: JsonObject = {}) => {
      const text = doc('EventStreaming', name, JSON.stringify({ platform, enabled: true, config }));
      const body = { source: `${name}-${source}`, files: [{ path: 'a.yaml', text }], ...options };
      const answer = await api().call('POST', '/api/config/apply', body);
      return [answer.status, ...problemsOf(answer)];
    },
    put: async (config: JsonObject) => {
      const id = (await find()).id.replace('eventstreaming-', '');
      return (await api().call('PUT', `${streams}/${id}`, { platform, enabled: true, config })).status;
    },
    /** Returns the secret that is in effect. */
    secret: async () => {
      const { id, spec } = await find();
      const config = spec['config'] as Readonly<Record<string, string>>;
      const context = sealContextOf(api().account, id, ['config', secret]);
      return api().engine.planEnvironment.vault.open(config[secret] ?? '', context);
    },
  };
}

const ok = [200];
const force = { force: true };
const refused = (name: string) => [422, `secret_address_changed /spec/config/${name}`];

it('a source that takes its secret back by force does not send it to the address of the other source', async () => {
  const stream = streamOf('taken', 'datadog', 'api_key');
  expect(await stream.apply('a', { api_key: 'stated' })).toEqual(ok);
  expect(await stream.apply('b', { api_url: other, api_key: 'own' }, force)).toEqual(ok);
  expect(await stream.apply('a', { api_key: 'stated' })).toEqual([409, 'unit_conflict /spec/config']);
  expect(await stream.apply('a', { api_key: 'stated' }, force)).toEqual(refused('api_key'));
  expect(await stream.secret()).toBe('own');
  expect(await stream.apply('a', { api_url: good, api_key: 'stated' }, force)).toEqual(ok);
  expect(await stream.secret()).toBe('stated');
});

it('a secret that another source took over and released is not sent to the address of that source', async () => {
  const stream = streamOf('released', 'generic_http', 'headers');
  const [stated, own] = ['{"X-Key":"stated"}', '{"X-Key":"own"}'];
  expect(await stream.apply('maker', { url: good })).toEqual(ok);
  expect(await stream.apply('a', { url: good, headers: stated })).toEqual(ok);
  expect(await stream.apply('a', { headers: stated })).toEqual(ok);
  expect(await stream.apply('b', { url: other, headers: own }, force)).toEqual(ok);
  expect(await stream.apply('b', { url: other })).toEqual(ok);
  expect(await stream.apply('a', { headers: stated })).toEqual(refused('headers'));
});

it('the secret of a detached source is not sent to the address that a user chose in between', async () => {
  const stream = streamOf('detached', 'datadog', 'api_key');
  expect(await stream.apply('a', { api_key: 'stated' })).toEqual(ok);
  expect((await api().call('POST', '/api/config/sources/detached-a/detach')).status).toBe(200);
  expect((await api().call('POST', '/api/config/sources/detached-a/resume')).status).toBe(200);
  expect(await stream.put({ api_url: other, api_key: 'own' })).toBe(200);
  expect(await stream.apply('a', { api_key: 'stated' })).toEqual(refused('api_key'));
  expect(await stream.apply('a', { api_url: good, api_key: 'stated' })).toEqual(ok);
  expect(await stream.secret()).toBe('stated');
});
