import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { present } from '../../setup/present.ts';
import { openPost } from '../scene.ts';
import { credentials, startBucket, startStream } from './aws.ts';
import { apiKey, startIntake } from './intake.ts';
import { startSink } from './sink.ts';

const nameOf = (event: JsonObject) => (event['meta'] as { readonly name?: string }).name;
const groupsOf = (events: readonly JsonObject[]) => events.filter(({ type }) => type === 'group.add').map(nameOf);

test('a bucket gets objects of lines, named by account, integration and hour, with each event once', async () => {
  const post = await openPost();
  const bucket = await startBucket('mesh-events');
  const id = await post.stream('s3', {
    ...{ ...credentials, bucket_name: 'mesh-events', endpoint: bucket.url, prefix: 'heddle/' },
  });
  const names = Array.from({ length: 20 }, (_, at) => `group ${at}`);
  await post.group(...names);
  const server = post.run();
  await expect.poll(() => groupsOf(bucket.accepted.flatMap(({ events }) => events))).toEqual(names);
  const [first] = bucket.accepted;
  const at = String(first?.events[0]?.['timestamp']);
  const hour = at.slice(0, 13).replace(/[-T]/g, '/');
  expect(first?.key).toMatch(new RegExp(`^heddle/${post.account}/${id}/audit/${hour}/\\d{12}-\\d{12}\\.ndjson\\.gz$`));
  const numbers = bucket.accepted.flatMap(({ events }) => events.map((event) => event['id']));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => Number(a) - Number(b)));
  expect(bucket.faults).toEqual([]);
  expect(server.reports).toEqual([]);
});

test('Datadog gets compressed entries with attributes, at most a thousand at once', async () => {
  const post = await openPost();
  const intake = await startIntake();
  await post.stream('datadog', { api_key: apiKey, api_url: intake.url });
  await post.group('one', 'two "quoted"\n');
  post.run();
  const entries = () => intake.accepted.flatMap((one) => one.entries);
  await expect.poll(() => groupsOf(entries())).toEqual(['one', 'two "quoted"\n']);
  expect(entries()[0]).toEqual({
    ...{ id: expect.any(Number), type: 'group.add', activity: 'Group created', account: post.account },
    ...{ initiator: { id: 'u1', name: 'Ana', email: '' }, target: { id: expect.any(String), name: 'one' } },
    ...{ meta: { name: 'one' }, message: 'Group created: one', timestamp: expect.stringMatching(/Z$/) },
  });
  expect(intake.accepted[0]?.tags[0]).toBe(`account:${post.account},type:group.add`);
  expect(intake.faults).toEqual([]);
});

test('an event too old for Datadog gets the time of sending, and its own time as an attribute', async () => {
  const post = await openPost();
  const intake = await startIntake();
  await post.stream('datadog', { api_key: apiKey, api_url: intake.url });
  await post.group('old', 'new');
  const old = new Date(Date.now() - 18 * 3_600_000).toISOString();
  await post.rows(`update audit_events set created_at = '${old}' where meta ->> 'name' = 'old' returning id`);
  post.run();
  const entries = () => intake.accepted.flatMap((one) => one.entries);
  await expect.poll(() => groupsOf(entries())).toEqual(['old', 'new']);
  expect(entries().map(({ original_timestamp: original }) => original)).toEqual([old, undefined]);
  expect(intake.faults).toEqual([]);
});

test('a Firehose stream gets one record for each event, and only the failed records again', async () => {
  const post = await openPost();
  const stream = await startStream('mesh');
  await post.stream('firehose', { ...credentials, stream_name: 'mesh', endpoint: stream.url });
  const names = Array.from({ length: 10 }, (_, at) => `group ${at}`);
  await post.group(...names);
  stream.failNext(() => new Set([1, 3]));
  stream.failNext(() => new Set([1]));
  post.run();
  await expect.poll(() => groupsOf(stream.taken).sort()).toEqual(names.toSorted());
  expect(stream.accepted.map(({ events }) => events.length)).toEqual([10, 2, 1]);
  const reason = 'the stream did not accept 1 of 2 records (ServiceUnavailableException)';
  const state = () => post.rows('select failures, last_error, batch_left from deliveries');
  await expect.poll(state).toEqual([{ failures: 0, last_error: reason, batch_left: null }]);
  await post.group('last');
  await expect.poll(() => groupsOf(stream.taken).at(-1)).toBe('last');
  expect(stream.faults).toEqual([]);
});

test('a generic HTTP platform gets events one by one, in order, from a template', async () => {
  const post = await openPost();
  const sink = await startSink();
  await post.stream('generic_http', {
    url: `${sink.url}/in`,
    headers: '{"Authorization":"Bearer abc"}',
    body_template:
      '{"n":{{.ID}},"text":"{{ .Message }}: {{.Meta.name}}{{.Meta.none}}","who":"{{.InitiatorID}}","meta":{{.Meta}}}',
  });
  post.run();
  await post.group('one', 'two "quoted"\n');
  await expect.poll(() => sink.accepted.map(({ body }) => body)).toHaveLength(2);
  expect(sink.accepted.map(({ body }) => body)).toEqual([
    { n: expect.any(Number), text: 'Group created: one', who: 'u1', meta: { name: 'one' } },
    { n: expect.any(Number), text: 'Group created: two "quoted"\n', who: 'u1', meta: { name: 'two "quoted"\n' } },
  ]);
  expect(sink.accepted[0]?.headers).toMatchObject({ authorization: 'Bearer abc', 'user-agent': 'Heddle/test' });
  expect(sink.faults).toEqual([]);
});

test('a generic HTTP platform gets lists when a batch size is set, and whole events without a template', async () => {
  const post = await openPost();
  const sink = await startSink();
  await post.stream('generic_http', { url: `${sink.url}/in`, batch: '3' });
  await post.group('one', 'two', 'three', 'four');
  post.run();
  await expect
    .poll(() => sink.accepted.map(({ body }) => (body as JsonObject[]).map(nameOf)))
    .toEqual([['one', 'two', 'three'], ['four']]);
  const { body, headers } = present(sink.accepted[0]);
  const ids = (body as JsonObject[]).map(({ id }) => id);
  expect(headers['idempotency-key']).toBe(`evt_${post.account}_${ids[0]}-${ids[2]}`);
});

test('a failed batch is sent as single events after the batch size is unset', async () => {
  const post = await openPost();
  const sink = await startSink();
  const url = `${sink.url}/in`;
  const id = await post.stream('generic_http', { url, batch: '4' });
  await post.group('one', 'two', 'three');
  sink.usually(500);
  post.run();
  await expect
    .poll(() => post.rows('select batch_end is null as without from deliveries'))
    .toEqual([{ without: false }]);
  await post.changeStream(id, { url, batch: null });
  // A request in flight with the former settings is refused too.
  await expect.poll(() => sink.attempts.some(({ body }) => !Array.isArray(body))).toBe(true);
  sink.usually();
  const bodies = () => sink.accepted.map(({ body }) => body as JsonObject);
  await expect.poll(() => groupsOf(bodies())).toEqual(['one', 'two', 'three']);
  expect(bodies().map(Array.isArray)).not.toContain(true);
  expect(sink.faults).toEqual([]);
});
