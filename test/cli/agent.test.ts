import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { readLocalService } from '../../src/cli/agent/local-service.ts';
import { createMachine } from '../../src/cli/agent/machine.ts';

it('enrolment fails with the HTML page that a proxy in between answered', async () => {
  const page = createServer((_request, response) => response.writeHead(502).end('<html>Bad gateway</html>'));
  await once(page.listen(0, '127.0.0.1'), 'listening');
  // It listens on a port.
  const { port } = page.address() as AddressInfo;
  const machine = createMachine(`http://127.0.0.1:${port}`, 'box');
  await expect(machine.enrol('KEY')).rejects.toThrow('<html>Bad gateway</html>');
  page.closeAllConnections();
  await new Promise((resolve) => page.close(resolve));
});

it.each(['', 'http', '0', '65536', '80/', '80/gre', '80/TCP'])('--expose refuses `%s`', (text) => {
  expect(() => readLocalService(text)).toThrow('write a port');
});
