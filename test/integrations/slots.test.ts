import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { startReceiver } from './receiver.ts';
import { openPost } from './scene.ts';

test.each([
  ['of one account', { inAll: 64, ofAccount: 2 }, 2],
  ['of all accounts together', { inAll: 3, ofAccount: 8 }, 3],
])('the limit of parallel deliveries %s is kept, and the other channels get their turn', async (_, atOnce, most) => {
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  // The first delivery creates the signing key, before several channels need one at the same time.
  const first = await post.channel({ target: { url: receiver.url } });
  const server = post.run(post.engine, { atOnce });
  await post.group('before');
  await expect.poll(() => receiver.accepted.length).toBe(1);
  const waiting: ServerResponse[] = [];
  receiver.usually((response) => void waiting.push(response));
  const channels = [first];
  while (channels.length < 5) channels.push(await post.channel({ target: { url: receiver.url } }));
  await post.group('one');
  const leases = () => post.rows("select name from leases where name like 'delivery/%' and until > clock_timestamp()");
  const answered = () => receiver.attempts.length - 1;
  for (let done = 0; done < channels.length; done++) {
    await expect.poll(answered).toBe(Math.min(done + most, channels.length));
    expect((await leases()).length).toBeLessThanOrEqual(most);
    waiting.shift()?.writeHead(204).end();
  }
  await expect.poll(leases).toEqual([]);
  expect([answered(), receiver.faults, server.reports]).toEqual([channels.length, [], []]);
});
