import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { temporaryDirectory } from '../../setup/database.ts';
import { present } from '../../setup/present.ts';
import type { Answer, Counterpart } from '../counterpart.ts';
import { openPost } from '../scene.ts';
import { credentials, firehoseError, s3Error, startBucket, startStream } from './aws.ts';
import { apiKey, startIntake } from './intake.ts';
import { startSink } from './sink.ts';

/** A platform, and the events that it accepted. */
interface Platform {
  readonly name: string;
  readonly config: JsonObject;
  readonly counterpart: Pick<
    Counterpart<unknown>,
    'next' | 'usually' | 'refuses' | 'stop' | 'start' | 'attempts' | 'faults' | 'port'
  >;
  events(): readonly JsonObject[];
}

const openers: Readonly<Record<string, () => Promise<Platform>>> = {
  async datadog() {
    const counterpart = await startIntake();
    const config = { api_key: apiKey, api_url: counterpart.url };
    return {
      name: 'datadog',
      config,
      counterpart,
      events: () => counterpart.accepted.flatMap(({ entries }) => entries),
    };
  },
  async s3() {
    const counterpart = await startBucket('events');
    const config = { ...credentials, bucket_name: 'events', endpoint: counterpart.url };
    const events = () => [...counterpart.objects.values()].flatMap((one) => one.events);
    return { name: 's3', config, counterpart, events };
  },
  async firehose() {
    const counterpart = await startStream('events');
    const config = { ...credentials, stream_name: 'events', endpoint: counterpart.url };
    return { name: 'firehose', config, counterpart, events: () => counterpart.taken };
  },
  async generic_http() {
    const counterpart = await startSink();
    const config = { url: `${counterpart.url}/in` };
    return {
      name: 'generic_http',
      config,
      counterpart,
      events: () => counterpart.accepted.map(({ body }) => body as JsonObject),
    };
  },
};

/** Opens a post that streams events to a platform. */
async function openScene(platform: string) {
  const post = await openPost();
  const { name, config, counterpart, events } = await present(openers[platform])();
  const id = await post.stream(name, config);
  return {
    ...{ ...post, ...counterpart, id, config, faults: counterpart.faults },
    names: () =>
      events()
        .filter(({ type }) => type === 'group.add')
        .map(({ meta }) => (meta as JsonObject)['name']),
    state: async () => (await post.rows('select paused, failures, last_error from deliveries'))[0],
  };
}

const partOf: Answer = (response) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"part', () => response.destroy());
};
const busy: Answer = (response) => response.writeHead(429, { 'retry-after': '0' }).end();
const never: Answer = () => undefined;

describe.each(Object.keys(openers))('streaming to %s', (platform) => {
  test('retries failed events until they are accepted, in order', async () => {
    const { run, engine, group, next, names, faults, state } = await openScene(platform);
    next(500, 503, busy, partOf, never, (response) => response.destroy());
    await group('one', 'two');
    const server = run(engine, { timeoutMs: 200 });
    await expect.poll(names).toEqual(['one', 'two']);
    await group('three');
    await expect.poll(names).toEqual(['one', 'two', 'three']);
    await expect.poll(state).toMatchObject({ paused: false, failures: 0 });
    expect(faults).toEqual([]);
    expect(server.reports).toEqual([]);
  });

  test('keeps the queue while the platform is down', async () => {
    const { run, group, stop, start, names, state } = await openScene(platform);
    await stop();
    run();
    await group('one', 'two');
    await expect.poll(state).toMatchObject({ last_error: '127.0.0.1 does not answer (ECONNREFUSED)' });
    await start();
    await expect.poll(names).toEqual(['one', 'two']);
  });

  test('is paused by a redirect, and by 401', async () => {
    const { run, group, next, usually, names, state, changeStream, id, config } = await openScene(platform);
    next((response) => response.writeHead(301, { location: 'http://127.0.0.1/' }).end());
    run();
    await group('one');
    await expect
      .poll(state)
      .toMatchObject({ paused: true, last_error: expect.stringContaining('answers with a redirect') });
    usually(401);
    await changeStream(id, config, false);
    await changeStream(id, config);
    await group('two');
    await expect
      .poll(state)
      .toMatchObject({ paused: true, last_error: expect.stringMatching(/answers 401.*; see whether/) });
    usually();
    await changeStream(id, { ...config }, false);
    await changeStream(id, { ...config });
    await group('three');
    await expect.poll(() => names().at(-1)).toBe('three');
  });

  test('is done by one of two servers at a time, each event once', async () => {
    const { run, another, group, names, faults } = await openScene(platform);
    run();
    run(await another());
    const groups = Array.from({ length: 12 }, (_, at) => `group ${at}`);
    await group(...groups);
    await expect.poll(names).toEqual(groups);
    expect(faults).toEqual([]);
  });

  test('does not connect to an internal address unless the operator allows it, and stores no secret', async () => {
    const { run, engine, group, state, attempts, rows } = await openScene(platform);
    run(engine, { allow: [] });
    await group('one');
    await expect.poll(state).toMatchObject({ last_error: expect.stringContaining('HEDDLE_OUTBOUND_ALLOW') });
    expect(attempts).toEqual([]);
    const stored = await rows(
      'select to_jsonb(d)::text as row from deliveries d union all select to_jsonb(e)::text from audit_events e',
    );
    expect(JSON.stringify(stored)).not.toMatch(new RegExp(`${apiKey}|${credentials.access_key_id}|aws/secret|/in"`));
  });
});

const unlucky = Array.from({ length: 40 }, (_, at) => `group ${at}`);

test.each<[string, Answer, string]>([
  ['datadog', 413, '413'],
  ['datadog', 400, '400'],
  ['generic_http', 422, '422'],
  ['s3', s3Error(400, 'InvalidObjectContent'), '400 InvalidObjectContent'],
  ['s3', s3Error(400, 'EntityTooLarge'), '400 EntityTooLarge'],
  ['firehose', firehoseError(400, 'InvalidArgumentException'), '400 InvalidArgumentException'],
  ['firehose', firehoseError(413, 'RequestEntityTooLargeException'), '413 RequestEntityTooLargeException'],
])(
  'when %s refuses a batch, only the unacceptable events are set aside, and the others are sent (%#)',
  async (...given) => {
    const [platform, answer, said] = given;
    const { run, group, refuses, names, attempts, rows, faults, state } = await openScene(platform);
    await group(...unlucky);
    refuses((text) => (/"group (7|23)"/.test(text) ? answer : undefined));
    run();
    const good = unlucky.filter((name) => !['group 7', 'group 23'].includes(name));
    await expect.poll(names).toEqual(good);
    const aside = await rows(
      'select e.meta, s.reason from set_aside_events s join audit_events e on e.id = s.event_id order by e.id',
    );
    const reason = expect.stringMatching(new RegExp(`answers ${said}$`));
    expect(aside).toEqual(['group 7', 'group 23'].map((name) => ({ meta: { name }, reason })));
    expect(await state()).toMatchObject({ paused: false, failures: 0 });
    // The server finds the refused events by bisection, not with one request per event.
    if (platform !== 'generic_http') expect(attempts.length).toBeLessThan(32);
    expect(faults).toEqual([]);
  },
);

test.each<[string, Answer, boolean, string]>([
  ['s3', s3Error(403, 'AccessDenied'), true, '403 AccessDenied; see whether the credentials are right'],
  [
    's3',
    s3Error(400, 'AuthorizationHeaderMalformed'),
    true,
    '400 AuthorizationHeaderMalformed; see whether the region',
  ],
  ['s3', s3Error(400, 'RequestTimeout'), false, '400 RequestTimeout'],
  ['s3', s3Error(503, 'SlowDown'), false, '503 SlowDown'],
  [
    'firehose',
    firehoseError(400, 'UnrecognizedClientException'),
    true,
    '400 UnrecognizedClientException; see whether the',
  ],
  [
    'firehose',
    firehoseError(400, 'ResourceNotFoundException'),
    true,
    '400 ResourceNotFoundException; see whether the name',
  ],
  [
    'firehose',
    firehoseError(400, 'InvalidKMSResourceException'),
    true,
    '400 InvalidKMSResourceException; see whether the settings',
  ],
  ['s3', s3Error(400, 'InvalidBucketName'), true, '400 InvalidBucketName; see whether the settings'],
  ['s3', s3Error(400, 'InvalidToken'), true, '400 InvalidToken; see whether the credentials'],
  ['firehose', firehoseError(400, 'ThrottlingException'), false, '400 ThrottlingException'],
])(
  'the error code of %s decides whether the stream is paused or retried (%#)',
  async (platform, answer, paused, message) => {
    const { run, group, usually, state, rows } = await openScene(platform);
    usually(answer);
    await group('one', 'two');
    run();
    await expect.poll(state).toMatchObject({ paused, last_error: expect.stringContaining(`answers ${message}`) });
    expect(await rows('select event_id from set_aside_events')).toEqual([]);
  },
);

test('AWS clients ignore the environment and the configuration files of the server', async () => {
  const file = join(await temporaryDirectory(), 'config');
  const elsewhere = 'http://127.0.0.1:1';
  await writeFile(file, `[default]\nregion = us-elsewhere-1\nendpoint_url = ${elsewhere}\nuse_fips_endpoint = true\n`);
  for (const [name, value] of Object.entries({
    ...{ AWS_CONFIG_FILE: file, AWS_ENDPOINT_URL: elsewhere, AWS_REGION: 'us-elsewhere-1', AWS_PROFILE: 'default' },
    ...{ AWS_ACCESS_KEY_ID: 'ENVIRONMENT', AWS_SECRET_ACCESS_KEY: 'environment', AWS_SESSION_TOKEN: 'token' },
  }))
    vi.stubEnv(name, value);
  for (const platform of ['s3', 'firehose']) {
    const { run, group, names, faults } = await openScene(platform);
    run();
    await group('one');
    await expect.poll(names).toEqual(['one']);
    expect(faults).toEqual([]);
  }
});
