import { describe, expect, it } from 'vitest';
import { asOperator } from './setup.ts';
import { asker, tokens, twoAccounts } from './two-accounts.ts';

const { api, other, leaks, walk } = twoAccounts();

describe('another account on the same server', () => {
  it('is not visible in any answer, error or count', async () => {
    const isListOrGroup = (path: string) => !path.includes('{') || path.startsWith('/api/groups/');
    expect(await walk(asker(api(), tokens[0] ?? ''), isListOrGroup)).toEqual({});
  });

  it('does have objects, which its own owner sees', async () => {
    const ask = asker(api(), tokens[1] ?? '');
    for (const url of ['/api/groups', '/api/peers', '/api/policies', '/api/setup-keys', '/api/config/revisions'])
      expect(leaks((await ask('GET', url)).text).length).toBeGreaterThan(0);
    for (const url of ['/api/peers', '/api/setup-keys'])
      expect(JSON.parse((await ask('GET', url)).text)).toHaveLength(url === '/api/peers' ? 2 : 1);
  });

  it('cannot read or change anything of the whole server', async () => {
    for (const [method, url] of [
      ['GET', '/metrics'],
      ['POST', '/api/config/secrets/rotate'],
      ['POST', '/api/config/idp/rotate'],
    ] as const) {
      const [first, second] = await Promise.all(tokens.map((token) => asker(api(), token)(method, url)));
      // Even users of the operator's account may not act as the operator.
      expect([url, first?.status, second?.status]).toEqual([url, 403, 403]);
      expect((await api().call(method, url, method === 'GET' ? undefined : {}, asOperator)).status).toBe(200);
    }
  });

  it('cannot be changed, and is answered with 404 like an unknown one', async () => {
    const ask = asker(api(), tokens[0] ?? '');
    const before = (await api().engine.snapshots.fresh(other())).revision;
    const group = (await api().engine.snapshots.fresh(other())).ofKind('Group')[0]?.id ?? '';
    for (const [method, url, body] of [
      ['PUT', `/api/groups/${group}`, { name: 'taken over', peers: [] }],
      ['DELETE', `/api/groups/${group}`],
      ['DELETE', `/api/accounts/${other()}`],
    ] as const)
      expect([url, (await ask(method, url, body)).status]).toEqual([url, 404]);
    const borrowed = await ask('POST', '/api/setup-keys', {
      ...{ name: 'k', type: 'reusable', expires_in: 86400, auto_groups: [group], usage_limit: 0 },
    });
    expect([borrowed.status, leaks(borrowed.text.replaceAll(group, ''))]).toEqual([422, []]);
    expect((await api().engine.snapshots.fresh(other())).revision).toBe(before);
  });

  it('does not reserve names', async () => {
    const ask = asker(api(), tokens[0] ?? '');
    expect((await ask('POST', '/api/groups', { name: 'birch group' })).status).toBe(200);
  });
});
