import { expect, test } from 'vitest';
import { discard, resume, retry } from '../../../src/features/integrations/deliveries/actions.ts';
import { showDeliveries } from '../../../src/features/integrations/deliveries/status.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { storeRequests, storeTraffic } from '../../logs/filled.ts';
import { present } from '../../setup/present.ts';
import { openPost } from '../scene.ts';
import { credentials, startBucket } from './aws.ts';
import { startSink } from './sink.ts';

const now = Date.now();
const span = { now, keptMs: 30 * 86_400_000 };
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();

const request = (id: string, seconds = 0): JsonObject => ({
  ...{ timestamp: ago(seconds), id, service_id: 's1', method: 'GET', host: 'app.example.com', path: `/${id}` },
  ...{ duration_ms: 3, status_code: 200, user_id: 'u1' },
});

const flow = (id: string): JsonObject => ({
  ...{ flow_id: id, source_ip: '100.64.0.1', source_port: 4000, destination_ip: '100.64.0.2', destination_port: 443 },
  ...{ protocol: 6, direction: 'EGRESS', connection_type: 'P2P', window_start: ago(2), window_end: ago(1) },
  events: [{ type: 'TYPE_START', timestamp: ago(2) }],
});

/** Opens a post that streams events to a platform, and records that are stored after the stream was created. */
async function openScene(settings: JsonObject = {}) {
  const post = await openPost();
  const sink = await startSink();
  const id = await post.stream('generic_http', { url: `${sink.url}/in`, ...settings });
  const { database, account, engine, call, rows } = post;
  const isReady = () => expect.poll(() => rows('select feed from record_deliveries')).toHaveLength(2);
  const bodies = () => sink.accepted.map(({ body }) => body as JsonObject);
  return {
    ...{ ...post, sink, id, isReady, bodies },
    requests: (batch: string, ...records: readonly JsonObject[]) =>
      storeRequests(database, account, batch, records, span),
    traffic: (batch: string, ...records: readonly JsonObject[]) =>
      storeTraffic(database, account, batch, records, {}, span),
    ids: () => bodies().map(({ id: name }) => name),
    status: async () => present((await showDeliveries(engine, { ...call, revision: 0 }))[0]),
  };
}

test('a platform gets network traffic and reverse proxy requests besides audit events', async () => {
  const { run, group, isReady, requests, traffic, bodies, account, sink } = await openScene();
  run();
  await isReady();
  await group('one');
  await requests('b1', request('r1'));
  await traffic('b1', flow('f1'));
  await expect.poll(bodies).toHaveLength(3);
  const byType = new Map(bodies().map((body) => [body['type'], body]));
  expect([...byType.keys()].sort()).toEqual(['group.add', 'network.traffic', 'proxy.access']);
  expect(byType.get('proxy.access')).toEqual({
    ...{ id: 'proxy-1', timestamp: ago(0), type: 'proxy.access', activity: 'Request through a reverse proxy', account },
    ...{ initiator: { id: 'u1', name: '', email: '' }, target: { id: 's1', name: 'app.example.com' } },
    meta: {
      ...{ id: 'r1', service_id: 's1', method: 'GET', host: 'app.example.com', path: '/r1', duration_ms: 3 },
      ...{ status_code: 200, user_id: 'u1', bytes_upload: 0, bytes_download: 0 },
    },
  });
  expect(byType.get('network.traffic')).toMatchObject({
    ...{ id: 'traffic-1', timestamp: ago(1), activity: 'Network traffic', target: { id: '', name: '' } },
    meta: { flow_id: 'f1', protocol: 6, direction: 'EGRESS', source: { address: '100.64.0.1:4000' }, num_of_starts: 1 },
  });
  expect(sink.faults).toEqual([]);
});

test('records that two servers store at once are sent once each, in the order of their numbers, however late', async () => {
  const { run, another, isReady, account, database, ids, rows } = await openScene();
  const other = await another();
  run();
  run(other);
  await isReady();
  const reports = Array.from({ length: 24 }, (_, at) => at);
  const store = (at: number) => {
    const records = [request(`a${at}`, at * 3600), request(`b${at}`)];
    return storeRequests(at % 2 === 0 ? database : other.database, account, `b${at}`, records, span);
  };
  await Promise.all(reports.map(store));
  // A repeated report stores nothing.
  await Promise.all(reports.slice(0, 4).map(store));
  await expect.poll(ids).toHaveLength(48);
  const stored = await rows('select number from proxy_log_numbers order by number');
  expect(ids()).toEqual(stored.map(({ number }) => `proxy-${number}`));
});

test('records of accounts without streams get no numbers', async () => {
  await using post = await openPost();
  const { account, database, rows } = post;
  post.run();
  await storeRequests(database, account, 'b1', [request('r1')], span);
  expect(await rows('select id from proxy_log')).toEqual([{ id: 'r1' }]);
  expect(await rows('select number from proxy_log_numbers')).toEqual([]);
  expect(await rows('select feed from feed_numbers')).toEqual([]);
});

test('a refused record is set aside, shown, and sent again or discarded', async () => {
  const { run, engine, call, id, isReady, requests, sink, ids, status } = await openScene();
  run();
  await isReady();
  sink.next(200, 422, 200, 422);
  await requests('b1', request('r1'), request('r2'), request('r3'), request('r4'), request('r5'));
  await expect.poll(ids).toEqual(['proxy-1', 'proxy-3', 'proxy-5']);
  const reason = expect.stringContaining('answers 422');
  const aside = { feed: 'proxy', activity_code: 'proxy.access', reason };
  await expect.poll(status).toMatchObject({
    ...{ setAsideCount: 2, lag: { events: 0 } },
    setAside: [
      { ...aside, event: 2 },
      { ...aside, event: 4 },
    ],
  });
  await retry(engine, call, id, { feed: 'proxy', number: 2 });
  await expect.poll(() => ids().at(-1)).toBe('proxy-2');
  await discard(engine, call, id);
  await expect.poll(status).toMatchObject({ setAsideCount: 0 });
  await expect(retry(engine, call, id, { feed: 'proxy', number: 2 })).rejects.toThrow('event proxy-2 not found');
});

test('records are kept while a platform is down, and can be sent again from a given time on', async () => {
  const { run, engine, call, id, isReady, requests, traffic, sink, ids, status } = await openScene();
  const server = run();
  await isReady();
  sink.usually(503);
  await requests('b1', request('r1', 600), request('r2'));
  await expect.poll(status).toMatchObject({ state: 'retrying', lag: { events: 2 } });
  expect((await status()).lag.seconds).toBeGreaterThanOrEqual(600);
  await server.stop();
  sink.usually();
  run();
  await expect.poll(ids).toEqual(['proxy-1', 'proxy-2']);
  await traffic('b1', flow('f1'));
  await expect.poll(ids).toHaveLength(3);
  await resume(engine, call, id, ago(60));
  await expect
    .poll(() =>
      ids()
        .slice(3)
        .filter((name) => typeof name === 'string')
        .sort(),
    )
    .toEqual(['proxy-2', 'traffic-1']);
});

test('a bucket gets records by kind, and a batch without an answer is uploaded again unchanged', async () => {
  const post = await openPost();
  const bucket = await startBucket('events');
  const id = await post.stream('s3', { ...credentials, bucket_name: 'events', endpoint: bucket.url });
  const { account, database, rows } = post;
  post.run();
  await expect.poll(() => rows('select feed from record_deliveries')).toHaveLength(2);
  bucket.next((response) => {
    void storeRequests(database, account, 'b2', [request('r3')], span).then(() => response.destroy());
  });
  await storeRequests(database, account, 'b1', [request('r1'), request('r2')], span);
  await expect.poll(() => bucket.accepted.length).toBe(2);
  const [lost, again, next] = [bucket.attempts[0], ...bucket.accepted];
  expect([again?.key, again?.body]).toEqual([lost?.key, lost?.body]);
  const [day = '', time = ''] = ago(0).split('T');
  const hour = `${day.replaceAll('-', '/')}/${time.slice(0, 2)}`;
  expect(next?.key).toBe(`${account}/${id}/proxy/${hour}/000000000003-000000000003.ndjson.gz`);
  expect(bucket.faults).toEqual([]);
});
