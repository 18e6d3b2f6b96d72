import { expect, test } from 'vitest';
import { startMailbox } from './mailbox.ts';
import { openPost } from './scene.ts';

const email = (...emails: readonly string[]) => ({ type: 'email', target: { emails } });

test('each event is sent as one mail to all addresses, in order, with what happened and who did it', async () => {
  const post = await openPost();
  const box = await startMailbox();
  const id = await post.channel(email('ana@example.com', 'ben@example.com'));
  post.run(post.engine, { mail: box.mail, publicUrl: 'https://heddle.example.com/' });
  await post.group('Zoë <b>\u2028\u0007& co', 'two');
  await expect.poll(() => box.received.length).toBe(2);
  const [first, second] = box.received;
  expect(first?.to).toEqual(['ana@example.com', 'ben@example.com']);
  expect(first?.headers).toMatchObject({
    from: 'Heddle <heddle@mesh.example.com>',
    to: 'ana@example.com, ben@example.com',
    subject: '[Heddle] Group created: Zoë <b> & co',
    'auto-submitted': 'auto-generated',
    'list-unsubscribe': '<https://heddle.example.com/#notifications>',
    'message-id': expect.stringMatching(new RegExp(`^<${id}\\.\\d+@mesh\\.example\\.com>$`)),
    'content-type': expect.stringContaining('multipart/alternative'),
  });
  expect(first?.body).toContain('By: Ana\r\n');
  expect(first?.body).toContain('Zoë &#60;b&#62; &#38; co');
  expect(first?.body).toContain(`The notification channel ${id} of the account ${post.account} sent this message.`);
  expect(second?.headers['subject']).toBe('[Heddle] Group created: two');
});

test('more than twenty waiting events are sent as one mail, which stays the same when it is sent again', async () => {
  const post = await openPost();
  const box = await startMailbox();
  await post.channel(email('ana@example.com'));
  const names = Array.from({ length: 21 }, (_, at) => `group ${at}`);
  await post.group(...names);
  // A temporary failure of the receiver must not change which events a mail contains.
  box.next(451, 451);
  const server = post.run(post.engine, { mail: box.mail });
  await expect.poll(box.attempts).toBeGreaterThan(0);
  await post.group('late');
  await expect.poll(() => box.received.length).toBe(2);
  const [digest, late] = box.received;
  expect(digest?.headers['subject']).toBe('[Heddle] 21 events');
  expect(digest?.headers['message-id']).toMatch(/^<\w+\.\d+-\d+@mesh/);
  expect(
    [...(digest?.body.matchAll(/^\S+ \S+ UTC Group created: (.+), by Ana\r$/gm) ?? [])].map(([, name]) => name),
  ).toEqual(names);
  expect(late?.headers['subject']).toBe('[Heddle] Group created: late');
  expect(server.reports).toEqual([]);
});

test('a mail refused for its content is set aside, and a digest is split into its events first', async () => {
  const post = await openPost();
  const box = await startMailbox();
  await post.channel(email('ana@example.com'));
  await post.group(...Array.from({ length: 21 }, (_, at) => `group ${at}`));
  // The mail server refuses the digest, accepts the first event, and refuses the second event.
  box.next(554, 250, 554);
  post.run(post.engine, { mail: box.mail });
  await expect.poll(() => box.attempts()).toBe(22);
  const aside = () => post.rows('select reason from set_aside_events');
  await expect.poll(aside).toHaveLength(1);
  expect(await aside()).toEqual([{ reason: expect.stringMatching(/^the mail server 127\.0\.0\.1:\d+ answers 554$/) }]);
  expect(box.received.map(({ headers }) => headers['subject'])).toHaveLength(20);
});

test('wrong credentials, refused addresses and a missing mail server pause a channel, with advice', async () => {
  const post = await openPost();
  const box = await startMailbox({ password: 'wrong' });
  const good = await startMailbox();
  const last = () => post.rows('select paused, last_error from deliveries');
  const id = await post.channel(email('ana@example.com'));
  const first = post.run(post.engine, { mail: box.mail });
  await post.group('one');
  await expect
    .poll(last)
    .toEqual([{ paused: true, last_error: expect.stringContaining('refuses the user and password of this server') }]);
  await first.stop();
  await post.changeChannel(id, email('refused@example.com'));
  const second = post.run(post.engine, { mail: good.mail });
  await expect
    .poll(last)
    .toEqual([{ paused: true, last_error: expect.stringMatching(/ accepts none of the addresses; correct them$/) }]);
  await post.changeChannel(id, email('refused@example.com', 'ben@example.com'));
  await expect.poll(() => good.received.map(({ to }) => to)).toEqual([['ben@example.com']]);
  await expect.poll(last).toEqual([
    {
      paused: false,
      last_error: 'the mail server rejects refused@example.com; the other addresses received the mail',
    },
  ]);
  await second.stop();
  post.run(post.engine);
  await post.group('two');
  await expect.poll(last).toEqual([{ paused: true, last_error: expect.stringContaining('HEDDLE_SMTP_URL') }]);
});
