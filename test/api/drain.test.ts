import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { drainConnections } from '../../src/api/drain.ts';

it('a stopping server does not wait for connections that were opened and never used', async () => {
  const app = Fastify({ forceCloseConnections: 'idle' });
  drainConnections(app);
  app.get('/', async () => 'ok');
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  await Promise.all([once(app.server, 'connection'), once(socket, 'connect')]);
  const [, ended] = await Promise.all([app.close(), once(socket, 'close')]);
  // `false`: the server closed the connection without an error.
  expect(ended).toEqual([false]);
});
