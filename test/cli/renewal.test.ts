import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationOf } from '../../src/cli/login/authorization.ts';
import { temporaryDirectory } from '../setup/database.ts';

describe('a sign-in with an expired access token', () => {
  const answers: [number, object][] = [];
  const server = createServer((_request, response) => {
    const [status, body] = answers.shift() ?? [500, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => server.close());

  it('is kept while the server answers 503, 429 or 502, and ends on invalid_grant', async () => {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const configDir = await temporaryDirectory();
    const file = join(configDir, 'logins.json');
    const login = {
      email: 'a@example.com',
      tokenEndpoint: url,
      accessToken: 'old',
      refreshToken: 'kept',
      expiresAt: 0,
    };
    await writeFile(file, JSON.stringify({ version: 1, servers: { [url]: login } }));
    const authorize = await authorizationOf({ server: url, token: undefined, dataDir: configDir, configDir });
    answers.push([503, { message: 'starting' }], [429, {}], [502, {}]);
    for (const status of [503, 429, 502]) {
      await expect(authorize()).rejects.toThrow(`answered ${status}; try again in a moment`);
      expect(await readFile(file, 'utf8')).toContain('kept');
    }
    answers.push([200, { access_token: 'new', refresh_token: 'next', expires_in: 0 }]);
    expect(await authorize()).toBe('Bearer new');
    answers.push([400, { error: 'invalid_grant' }]);
    await expect(authorize()).rejects.toThrow('has ended; run `heddle login');
    expect(await readFile(file, 'utf8')).not.toContain('next');
  });
});
