import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { asObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { token } from '../api/setup.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHeddle, serveHeddle } from '../setup/heddle.ts';
import { startMailbox } from './mailbox.ts';
import { privateAuthority } from './private-authority.ts';
import { openPost } from './scene.ts';
import { credentials, startBucket } from './streaming/aws.ts';
import { startSink } from './streaming/sink.ts';

const { authority: authorities, here, elsewhere } = privateAuthority;
const distrusted =
  /^\S+ has a certificate of an authority that this server does not trust \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\); the operator can name the authority with HEDDLE_OUTBOUND_CA$/;
const misnamed =
  /^\S+ has a certificate for another host \(ERR_TLS_CERT_ALTNAME_INVALID\); see whether the name is right$/;

async function openScene() {
  const post = await openPost();
  return {
    ...post,
    lastError: async () => String((await post.rows('select last_error from deliveries'))[0]?.['last_error']),
  };
}

const email = { type: 'email', target: { emails: ['ana@example.com'] } };
const behind = (tail: RegExp) => new RegExp(`^the mail server ${tail.source.slice(1)}`);

describe.each(['smtp', 'smtps'] as const)('a mail server at %s', (scheme) => {
  test('is sent mails when its authority is trusted', async () => {
    const post = await openScene();
    await post.channel(email);
    const box = await startMailbox({ scheme, tls: here, authorities });
    post.run(post.engine, { mail: box.mail });
    await post.group('one');
    await expect.poll(() => box.received.map(({ to }) => to)).toEqual([['ana@example.com']]);
    expect(box.inPlainText).toEqual([]);
  });

  test.each([
    ['of an authority that is not trusted', here, {}, distrusted],
    ['of another host', elsewhere, { authorities }, misnamed],
  ])('is sent nothing when its certificate is %s, and the mail waits', async (_, tls, trust, message) => {
    const post = await openScene();
    await post.channel(email);
    const box = await startMailbox({ scheme, tls, ...trust });
    post.run(post.engine, { mail: box.mail });
    await post.group('one');
    await expect.poll(post.lastError).toMatch(behind(message));
    expect([box.received, box.inPlainText]).toEqual([[], []]);
    expect(await post.rows('select paused from deliveries')).toEqual([{ paused: false }]);
    expect(await post.rows('select 1 from set_aside_events')).toEqual([]);
  });
});

test('a mail server that offers no TLS is sent no password, unless the operator says so', async () => {
  const post = await openScene();
  await post.channel(email);
  const box = await startMailbox({ query: '' });
  const first = post.run(post.engine, { mail: box.mail });
  await post.group('one');
  await expect
    .poll(post.lastError)
    .toMatch(
      /^the mail server \S+ offers no TLS, and nothing is sent to it without; the operator can write smtps:\/\//,
    );
  expect([box.received, box.inPlainText]).toEqual([[], []]);
  expect(await post.rows('select 1 from set_aside_events')).toEqual([]);
  await first.stop();
  const open = await startMailbox({ query: '?ignoreTLS=true' });
  post.run(post.engine, { mail: open.mail });
  await expect.poll(() => open.received).toHaveLength(1);
  expect(open.inPlainText).toEqual(['secret']);
});

/** A platform on TLS, and how many events of groups it took. */
const platforms = {
  async generic_http(tls: typeof here) {
    const { url, accepted, faults } = await startSink(tls);
    const config: JsonObject = { url: `${url}/in` };
    return { config, faults, taken: () => accepted.length };
  },
  async s3(tls: typeof here) {
    const { url, objects, faults } = await startBucket('events', tls);
    const config: JsonObject = { ...credentials, bucket_name: 'events', endpoint: url };
    return { config, faults, taken: () => objects.size };
  },
};

describe.each(Object.entries(platforms))('%s', (platform, start) => {
  test('takes events when the authority of its certificate is trusted, and not before', async () => {
    const post = await openScene();
    const { config, taken, faults } = await start(here);
    await post.stream(platform, config);
    const distrustful = post.run();
    await post.group('one');
    await expect.poll(post.lastError).toMatch(distrusted);
    expect(taken()).toBe(0);
    await distrustful.stop();
    post.run(post.engine, { authorities });
    await expect.poll(taken).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  test('takes no events with the certificate of another host', async () => {
    const post = await openScene();
    const { config, taken } = await start(elsewhere);
    await post.stream(platform, config);
    post.run(post.engine, { authorities });
    await post.group('one');
    await expect.poll(post.lastError).toMatch(misnamed);
    expect(taken()).toBe(0);
  });
});

test('the operator names private authorities with HEDDLE_OUTBOUND_CA', async () => {
  const directory = await temporaryDirectory();
  const [box, sink] = [await startMailbox({ scheme: 'smtps', tls: here }), await startSink(here)];
  const path = join(directory, 'ca.pem');
  await writeFile(path, `# of the company\n${authorities}`);
  await using server = await serveHeddle(['--data-dir', join(directory, 'data')], {
    env: {
      ...{ HEDDLE_OUTBOUND_CA: path, HEDDLE_OUTBOUND_ALLOW: '127.0.0.1', HEDDLE_SMTP_URL: box.url },
      ...{ HEDDLE_MAIL_FROM: 'heddle@mesh.example.com', HEDDLE_BOOTSTRAP_TOKEN: token },
    },
  });
  const post = async (at: string, body: JsonObject = {}) => {
    const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}${at}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return asObject(parseJson(await answer.text()));
  };
  const channels = '/api/integrations/notifications/channels';
  const { id } = await post(channels, { ...email, event_types: ['group.add'], enabled: true });
  expect(await post(`${channels}/${id}/test`)).toMatchObject({ delivered: true });
  expect(box.received.map(({ to }) => to)).toEqual([['ana@example.com']]);
  await post('/api/event-streaming', { platform: 'generic_http', config: { url: `${sink.url}/in` }, enabled: true });
  await post('/api/groups', { name: 'one' });
  await expect.poll(() => sink.accepted.length, { timeout: 10_000 }).toBeGreaterThan(0);
});

test.each([
  [
    'is not there',
    undefined,
    /^error: HEDDLE_OUTBOUND_CA cannot be read \(ENOENT.+\); correct the path or unset it\.$/,
  ],
  [
    'has no certificate',
    privateAuthority.here.key,
    /^error: HEDDLE_OUTBOUND_CA names \S+, which is no list of certificates in PEM; give the certificates of the authorities\.$/,
  ],
  ['has half a certificate', authorities.replace('MII', 'MIX'), /is no list of certificates in PEM/],
])('a file of HEDDLE_OUTBOUND_CA that %s ends the start', async (_, text, message) => {
  const path = join(await temporaryDirectory(), 'ca.pem');
  if (text !== undefined) await writeFile(path, text);
  const run = await runHeddle(['serve', '--listen', '127.0.0.1:0'], { env: { HEDDLE_OUTBOUND_CA: path } });
  expect([run.code, run.err.trim()]).toEqual([1, expect.stringMatching(message)]);
});
