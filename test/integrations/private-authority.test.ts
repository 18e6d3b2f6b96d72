import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startMailbox } from './mailbox.ts';
import { privateAuthority } from './private-authority.ts';
import { openPost } from './scene.ts';
import { credentials, startBucket } from './streaming/aws.ts';
import { startSink } from './streaming/sink.ts';

const { authority: authorities, here, elsewhere } = privateAuthority;
const distrusted =
  /^\S+ has a certificate from an authority that this server does not trust \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\); the operator can add the authority with HEDDLE_OUTBOUND_CA$/;
const misnamed = /^\S+ has a certificate for another host \(ERR_TLS_CERT_ALTNAME_INVALID\); check the name$/;

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
  test('receives mails when its authority is trusted', async () => {
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
  ])('receives nothing when its certificate is %s, and the mail waits', async (_, tls, trust, message) => {
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

test('a mail server without TLS receives no mail and no password, unless the operator allows it', async () => {
  const post = await openScene();
  await post.channel(email);
  const box = await startMailbox({ query: '' });
  const first = post.run(post.engine, { mail: box.mail });
  await post.group('one');
  await expect
    .poll(post.lastError)
    .toMatch(/^the mail server \S+ offers no TLS, and nothing is sent without TLS; the operator can write smtps:\/\//);
  expect([box.received, box.inPlainText]).toEqual([[], []]);
  expect(await post.rows('select 1 from set_aside_events')).toEqual([]);
  await first.stop();
  const open = await startMailbox({ query: '?ignoreTLS=true' });
  post.run(post.engine, { mail: open.mail });
  await expect.poll(() => open.received).toHaveLength(1);
  expect(open.inPlainText).toEqual(['secret']);
});

/** Starts a platform with TLS; `taken` returns how many group events it accepted. */
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

describe.each(Object.entries(platforms))('the platform %s', (platform, start) => {
  test('receives events only when the authority of its certificate is trusted', async () => {
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

  test('receives no events with the certificate of another host', async () => {
    const post = await openScene();
    const { config, taken } = await start(elsewhere);
    await post.stream(platform, config);
    post.run(post.engine, { authorities });
    await post.group('one');
    await expect.poll(post.lastError).toMatch(misnamed);
    expect(taken()).toBe(0);
  });
});
