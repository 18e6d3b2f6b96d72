import { describe, expect, it } from 'vitest';
import { callAsAnonymous, person } from '../api/people.ts';
import { problemsOf } from '../api/problems.ts';
import type { Answer } from '../api/setup.ts';
import { tenants, tenantsScene } from '../api/tenants-scene.ts';

// The sender of these invitations is a user of the managing account, and acts with a role in the account of a tenant.

const { api, addUser, signIn } = tenantsScene();
const password = 'correct horse';

const tokenIn = ({ headers }: Answer) => String(headers['heddle-invite-link']).split('/').at(-1);
const accept = (token: string | undefined) =>
  callAsAnonymous(api())('POST', `/api/users/invites/${token}/accept`, { password });

/** Creates a tenant with a user who has not signed in yet. Returns what a sender with this role may do there. */
async function managed(domain: string, role: 'owner' | 'admin') {
  const group = await api().group(domain);
  const body = { name: domain, domain, groups: [{ id: group, role }] };
  const { id: account } = (await api().call('POST', tenants, body)).body;
  const ask = await signIn(api().account, await addUser(api().account, domain, { auto_groups: [group] }));
  const user = (await ask('POST', `/api/users?account=${account}`, person({ role: 'admin' }))).body.id;
  const invite = () => ask('POST', `/api/users/${user}/invite?account=${account}`);
  return { account, user, invite };
}

describe('an invitation from the managing account, for an existing user of a tenant', () => {
  it('by an admin is void when the user has become an owner since', async () => {
    const { account, user, invite } = await managed('admin.example.com', 'admin');
    const token = tokenIn(await invite());
    expect((await api().call('POST', `${tenants}/${account}/unlink`, { owner: user })).status).toBe(200);
    const accepted = await accept(token);
    expect([accepted.status, problemsOf(accepted)]).toEqual([422, ['invite_void ']]);
  });

  it('by an admin is valid when the user has no rights of an owner', async () => {
    const { invite } = await managed('plain.example.com', 'admin');
    expect((await accept(tokenIn(await invite()))).status).toBe(200);
  });

  it('by an owner is valid when the user has become an owner since', async () => {
    const { account, user, invite } = await managed('owner.example.com', 'owner');
    const token = tokenIn(await invite());
    expect((await api().call('POST', `${tenants}/${account}/unlink`, { owner: user })).status).toBe(200);
    expect((await accept(token)).status).toBe(200);
  });
});
