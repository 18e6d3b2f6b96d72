import { expect, it } from 'vitest';
import { testApi } from './setup.ts';

const tenants = '/api/integrations/msp/tenants';

it('an account has at most as many tenants with an unproved domain as the server allows', async () => {
  const records = new Map<string, readonly string[]>();
  await using own = await testApi('postgres', {
    pendingTenants: 2,
    resolveTxt: async (name) => records.get(name) ?? [],
  });
  const create = (name: string) => own.call('POST', tenants, { name, domain: `${name}.example.com`, groups: [] });
  // The limit also applies to concurrent requests.
  const made = await Promise.all(['a', 'b', 'c', 'd'].map(create));
  expect(made.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
  const message = expect.stringMatching(
    /^the account has 2 tenants with a domain that is not proved, and this server allows 2; prove or delete one, or ask the operator to raise HEDDLE_PENDING_TENANTS$/,
  );
  for (const { status, body } of made) if (status === 409) expect(body.message).toEqual(message);
  const [first, second] = made.filter(({ status }) => status === 200).map(({ body }) => body);
  records.set(`_heddle-challenge.${first.domain}`, [first.dns_challenge]);
  expect((await own.call('POST', `${tenants}/${first.id}/dns`)).status).toBe(200);
  expect((await create('e')).status).toBe(200);
  expect((await create('f')).status).toBe(409);
  expect((await own.call('DELETE', `${tenants}/${second.id}`)).status).toBe(200);
  expect((await create('f')).status).toBe(200);
});
