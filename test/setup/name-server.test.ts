import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openNameServer } from './name-server.ts';

test('a test name server takes another port when its own is in use for TCP or for UDP', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port was given');
  await using second = await openNameServer(address.port);
  expect(second.address).not.toBe(`127.0.0.1:${address.port}`);
  await using third = await openNameServer(Number(second.address.split(':')[1]));
  expect(third.address).not.toBe(second.address);
  other.close();
});
