import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { listPublicKeys } from '../../src/features/integrations/notifications/webhook-keys.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { type TestApi, testApi } from '../api/setup.ts';
import {
  credentialsB,
  credentialsD,
  device,
  startVendorA,
  startVendorB,
  startVendorC,
  startVendorD,
  tokenA,
  tokenC,
} from './endpoint-security/products.ts';
import { openScene, runPost as runProducts } from './endpoint-security/scene.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { startReceiver } from './receiver.ts';
import { runPost } from './scene.ts';
import { credentials, firehoseError, s3Error, startBucket, startStream } from './streaming/aws.ts';
import { apiKey, startIntake } from './streaming/intake.ts';
import { startSink } from './streaming/sink.ts';

/** Writes a secret in the form that the way of configuration requires. */
type Secret = (name: string, value: string) => string | JsonObject;

/** An integration to configure: by its kind in documents, or at its path in the API. */
interface Integration {
  readonly kind: string;
  readonly path: string;
  spec(secret: Secret): JsonObject;
}

/** A way to configure an integration. */
interface Way {
  /** Returns the reference to the group of all peers. */
  readonly allPeers: (api: TestApi) => Promise<string>;
  configure(api: TestApi, values: Map<string, string>, integration: Integration): Promise<void>;
}

const ways: Readonly<Record<string, Way>> = {
  'a YAML document': {
    allPeers: async () => 'name:All',
    async configure(api, values, { kind, spec }) {
      const named = (name: string, value: string) => {
        values.set(`HEDDLE_VALUE_${name}`, value);
        return { valueFrom: { envRef: `HEDDLE_VALUE_${name}` } };
      };
      const document = { apiVersion: 'heddle.dev/v1', kind, metadata: { name: 'theirs' }, spec: spec(named) };
      const files = [{ path: 'theirs.yaml', text: stringify(document) }];
      const { status, body } = await api.call('POST', '/api/config/apply', { source: 'team', files });
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
  },
  'the API': {
    allPeers: async (api) => (await api.call('GET', '/api/groups?name=All')).body[0].id,
    async configure(api, _, { path, spec }) {
      const body = { enabled: true, ...spec((__, value) => value) };
      const answer = await api.call('POST', path, body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
  },
};

/** An integration that receives events, and a fault that requires an action by the user. */
interface Receiving extends Integration {
  readonly mail?: Mailbox['mail'];
  readonly type: string;
  /** Names of the created groups that events reported. */
  names(): readonly unknown[];
  /** Makes the next delivery fail. */
  fail(): void;
  /** Expected status after the failure. */
  readonly failed: JsonObject;
  /** Action that the user then requests. */
  readonly remedy: 'resume' | 'retry';
  readonly faults: readonly string[];
}

const addedNames = (events: readonly JsonObject[]) =>
  events.filter(({ type }) => type === 'group.add').map(({ meta }) => (meta as JsonObject)['name']);
const keys = (secret: Secret) => ({
  access_key_id: secret('KEY', credentials.access_key_id),
  secret_access_key: secret('SECRET', credentials.secret_access_key),
  region: credentials.region,
});
const notifications = { kind: 'NotificationChannel', path: '/api/integrations/notifications/channels' };
const streaming = { kind: 'EventStreaming', path: '/api/event-streaming' };
const pausedBy = (answer: string) => ({
  state: 'paused',
  message: expect.stringMatching(new RegExp(`^paused: 127\\.0\\.0\\.1(:\\d+)? answers ${answer}`)),
});

const receivers: Readonly<Record<string, (api: TestApi) => Promise<Receiving>>> = {
  async email() {
    const { mail, received, next } = await startMailbox();
    const reason = expect.stringMatching(/^the mail server 127\.0\.0\.1:\d+ answers 554$/);
    return {
      ...{ ...notifications, type: 'email', mail, faults: [] },
      spec: () => ({ type: 'email', target: { emails: ['ana@example.com'] }, event_types: ['group.add'] }),
      names: () => received.map(({ headers }) => headers['subject']?.replace('[Heddle] Group created: ', '')),
      fail: () => next(554),
      failed: { state: 'idle', setAsideCount: 1, setAside: [{ activity_code: 'group.add', reason }] },
      remedy: 'retry',
    };
  },
  async webhook({ engine, account }) {
    const { url, accepted, next, faults } = await startReceiver(async () =>
      (await listPublicKeys(engine, account)).map(({ key }) => key),
    );
    return {
      ...{ ...notifications, type: 'webhook', faults },
      spec: (secret) => ({
        ...{ type: 'webhook', event_types: ['group.add'] },
        target: { url: secret('URL', url), headers: { Authorization: secret('AUTHORIZATION', 'Bearer abc') } },
      }),
      names: () => addedNames(accepted.map(({ body }) => body)),
      fail: () => next(401),
      failed: pausedBy('401'),
      remedy: 'resume',
    };
  },
  async datadog() {
    const { url, accepted, next, faults } = await startIntake();
    return {
      ...{ ...streaming, type: 'datadog', faults },
      spec: (secret) => ({ platform: 'datadog', config: { api_key: secret('DATADOG', apiKey), api_url: url } }),
      names: () => addedNames(accepted.flatMap(({ entries }) => entries)),
      fail: () => next(403),
      failed: pausedBy('403'),
      remedy: 'resume',
    };
  },
  async s3() {
    const { url, accepted, next, faults } = await startBucket('mesh');
    return {
      ...{ ...streaming, type: 's3', faults },
      spec: (secret) => ({ platform: 's3', config: { ...keys(secret), bucket_name: 'mesh', endpoint: url } }),
      names: () => addedNames(accepted.flatMap(({ events }) => events)),
      fail: () => next(s3Error(403, 'AccessDenied')),
      failed: pausedBy('403 AccessDenied'),
      remedy: 'resume',
    };
  },
  async firehose() {
    const { url, taken, next, faults } = await startStream('mesh');
    return {
      ...{ ...streaming, type: 'firehose', faults },
      spec: (secret) => ({ platform: 'firehose', config: { ...keys(secret), stream_name: 'mesh', endpoint: url } }),
      names: () => addedNames(taken),
      fail: () => next(firehoseError(400, 'AccessDeniedException')),
      failed: pausedBy('400 AccessDeniedException'),
      remedy: 'resume',
    };
  },
  async generic_http() {
    const { url, accepted, next, faults } = await startSink();
    const body_template = '{"type":"group.add","meta":{"name":"{{.Meta.name}}","text":"{{.Message}}"}}';
    return {
      ...{ ...streaming, type: 'generic_http', faults },
      spec: (secret) => ({
        platform: 'generic_http',
        config: { url: secret('URL', `${url}/in`), body_template },
      }),
      names: () => addedNames(accepted.map(({ body }) => body as JsonObject)),
      fail: () => next(410),
      failed: pausedBy('410'),
      remedy: 'resume',
    };
  },
};

/** Returns options for a server with values that documents may refer to, and the map of these values. */
function withValues() {
  const values = new Map<string, string>();
  const valueFrom = (_: unknown, name: string) => values.get(name);
  return { values, options: { valueFrom, shareValues: true } };
}

describe.each(Object.entries(ways))('an integration configured by %s', (_, { configure, allPeers }) => {
  it.each(Object.entries(receivers))(
    '%s receives events, and the status reports successes and failures',
    async (__, start) => {
      const { values, options } = withValues();
      const api = await testApi('postgres', options);
      onTestFinished(() => api[Symbol.asyncDispose]());
      const receiver = await start(api);
      await configure(api, values, receiver);
      const { reports, stop } = runPost(api.engine, receiver.mail === undefined ? {} : { mail: receiver.mail });
      onTestFinished(stop);
      const status = async () => (await api.call('GET', '/api/config/deliveries')).body[0];
      const { kind, type } = receiver;
      const well = { kind, type, state: 'idle', failures: 0, setAsideCount: 0, lag: { events: 0 } };
      await api.group('one');
      await expect.poll(receiver.names).toContain('one');
      await expect.poll(status).toMatchObject({ ...well, lastSuccessAt: expect.any(String) });
      receiver.fail();
      await api.group('two');
      await expect.poll(status).toMatchObject(receiver.failed);
      expect(receiver.names()).not.toContain('two');
      const { id } = await status();
      expect((await api.call('POST', `/api/config/deliveries/${id}/${receiver.remedy}`)).status).toBe(200);
      await expect.poll(receiver.names).toContain('two');
      await expect.poll(status).toMatchObject(well);
      expect([receiver.faults, reports]).toEqual([[], []]);
      for (const secret of values.values()) expect(JSON.stringify(await status())).not.toContain(secret);
    },
  );

  const products = [
    ['vendor-a', 'EdrVendorA', startVendorA, { firewallEnabled: false }, 'vendor A: the firewall is off'],
    ['vendor-b', 'EdrVendorB', startVendorB, { complianceState: 'noncompliant' }, 'vendor B: '],
    ['vendor-c', 'EdrVendorC', startVendorC, { disk_encryption_enabled: false }, 'vendor C: '],
    ['vendor-d', 'EdrVendorD', startVendorD, { score: 10 }, 'vendor D: '],
  ] as const;

  it.each(products)(
    '%s blocks a peer and allows it again, and the status reports it',
    async (vendor, kind, start, bad, why) => {
      const { values, options } = withValues();
      const { api, machines, standing, status } = await openScene(options);
      const ids = await machines('ana', 'ben');
      const product = await start();
      product.devices = [device('ana'), device('ben', bad)];
      const groups = [await allPeers(api)];
      const spec = (secret: Secret) => ({ ...settingsOf[vendor](product.url, secret), groups });
      await configure(api, values, { kind, path: `/api/integrations/edr/${vendor}`, spec });
      const { reports } = runProducts(api.engine, { everyMs: 100 });
      const reported = (approved: number, denied: number) => ({
        ...{ vendor, state: 'synced', devices: 2, peers: { approved, denied, unchecked: 0 } },
      });
      await expect.poll(() => status(vendor)).toMatchObject(reported(1, 1));
      expect(await standing(ids)).toEqual([undefined, expect.stringContaining(why)]);
      product.devices = [device('ana'), device('ben')];
      await expect.poll(() => standing(ids)).toEqual([undefined, undefined]);
      await expect.poll(() => status(vendor)).toMatchObject(reported(2, 0));
      product.always({ status: 401, body: {} });
      await expect
        .poll(() => status(vendor))
        .toMatchObject({ state: 'failing', message: expect.stringMatching(/401|refuse/) });
      expect([product.faults, reports]).toEqual([[], []]);
      for (const secret of values.values()) expect(JSON.stringify(await status(vendor))).not.toContain(secret);
    },
  );
});

/** Settings of each product, without the groups. */
const settingsOf = {
  'vendor-a': (api_url: string, secret: Secret) => ({
    ...{ api_url, api_token: secret('TOKEN', tokenA), last_synced_interval: 24 },
    match_attributes: { firewall_enabled: true },
  }),
  'vendor-b': (url: string, secret: Secret) => ({
    ...{ ...credentialsB, secret: secret('SECRET', credentialsB.secret), last_synced_interval: 24 },
    ...{ login_url: url, api_url: url },
  }),
  'vendor-c': (api_url: string, secret: Secret) => ({
    ...{ api_url, api_token: secret('TOKEN', tokenC), last_synced_interval: 24 },
    match_attributes: { disk_encryption_enabled: true },
  }),
  'vendor-d': (api_url: string, secret: Secret) => ({
    ...{ client_id: secret('CLIENT', credentialsD.client_id), secret: secret('SECRET', credentialsD.secret) },
    ...{ cloud_id: 'us-1', api_url, zta_score_threshold: 70 },
  }),
};
