import { describe, expect, it } from 'vitest';
import { tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { apiOn, sharedApi, testApi, token } from '../api/setup.ts';
import { testKeyLimit } from './concurrent-enrolment.ts';
import { newMachine, setupKey } from './machine.ts';

const api = sharedApi({ edition: 'hosted' });
const user = { authorization: `Bearer ${token}` };
const message = (answer: { readonly status: number; readonly body: { readonly message?: string } }) => [
  answer.status,
  answer.body.message,
];

describe('a machine with a setup key', () => {
  it('becomes a peer with an address, a name, its groups and the facts that it reported', async () => {
    const group = await api().group('runners');
    const key = await setupKey(api(), {
      name: 'CI',
      auto_groups: [group],
      ephemeral: true,
      allow_extra_dns_labels: true,
    });
    const machine = newMachine(api());
    const answer = await machine.enrol({
      setup_key: key['key'] ?? '',
      hostname: 'Runner-7.example.com',
      extra_dns_labels: ['ci'],
      facts: {
        system: 'linux',
        system_version: '13',
        network_addresses: [{ net_ip: '10.0.0.7/24', mac: '02:42:0A:14:00:07' }],
      },
    });
    expect(message(answer)).toEqual([200, undefined]);
    const { peer, session } = answer.body;
    expect(session.token).toMatch(/^nba_/);
    const shown = (await api().call('GET', `/api/peers/${peer.id}`)).body;
    const range = (await api().call('GET', '/api/accounts')).body[0].settings.network_range.replace('.0.0/16', '.');
    expect(shown).toMatchObject({
      name: 'Runner-7.example.com',
      hostname: 'Runner-7.example.com',
      dns_label: 'runner-7.heddle.internal',
      extra_dns_labels: ['ci.heddle.internal'],
      ip: expect.stringContaining(range),
      user_id: '',
      ephemeral: true,
      login_expiration_enabled: false,
      os: 'linux 13',
      connection_ip: '127.0.0.1',
      connected: false,
      network_addresses: [{ net_ip: '10.0.0.7/24', mac: '02:42:0a:14:00:07' }],
    });
    expect(shown.groups.map(({ name }: { name: string }) => name)).toEqual(['All', 'runners']);
    expect((await api().call('GET', `/api/setup-keys/${key['id']}`)).body).toMatchObject({
      used_times: 1,
      valid: true,
    });
    const events: readonly { readonly activity_code: string }[] = (await api().call('GET', '/api/events/audit')).body;
    expect(events.find(({ activity_code }) => activity_code === 'peer.setupkey.add')).toMatchObject({
      initiator_id: String(key['id']),
      target_id: peer.id,
      meta: { name: 'Runner-7.example.com', fqdn: 'runner-7.heddle.internal', setup_key_name: 'CI' },
    });
  });

  it('gets another DNS label when its own is taken', async () => {
    const key = (await setupKey(api()))['key'] ?? '';
    const first = (await newMachine(api()).enrol({ setup_key: key, hostname: 'twin' })).body.peer;
    const second = (await newMachine(api()).enrol({ setup_key: key, hostname: 'twin' })).body.peer;
    expect(first.dns_label).toBe('twin.heddle.internal');
    expect(second.dns_label).toBe(`twin-${second.ip.split('.').slice(2).join('-')}.heddle.internal`);
  });

  it('shares extra DNS labels with other peers, but takes none that is the main label of a peer', async () => {
    const key = (await setupKey(api(), { allow_extra_dns_labels: true }))['key'] ?? '';
    const enrol = (asked: JsonObject) => newMachine(api()).enrol({ setup_key: key, name: null, facts: null, ...asked });
    expect((await enrol({ hostname: 'vault' })).status).toBe(200);
    expect(message(await enrol({ hostname: 'thief', extra_dns_labels: ['files', 'vault'] }))).toEqual([
      409,
      'a peer with the label `vault` already exists; choose another extra DNS label',
    ]);
    for (const hostname of ['one', 'two'])
      expect((await enrol({ hostname, extra_dns_labels: ['files', hostname] })).status).toBe(200);
    const late = (await enrol({ hostname: 'files' })).body.peer;
    expect(late.dns_label).toBe(`files-${late.ip.split('.').slice(2).join('-')}.heddle.internal`);
  });

  it('is refused with a key that is unknown, revoked, used up or does not allow the requested labels', async () => {
    const once = await setupKey(api(), { type: 'one-off', usage_limit: 1 });
    const enrol = (setup_key: unknown, more = {}) => newMachine(api()).enrol({ setup_key: String(setup_key), ...more });
    expect((await enrol(once['key'])).status).toBe(200);
    expect(message(await enrol(once['key']))).toEqual([
      403,
      'the setup key has reached its usage limit; ask an administrator for another one',
    ]);
    const revoked = await setupKey(api());
    await api().call('PUT', `/api/setup-keys/${revoked['id']}`, { revoked: true, auto_groups: [] });
    expect(message(await enrol(revoked['key']))[1]).toMatch(/^the setup key is revoked/);
    expect(message(await enrol('A1B2C3D4-0000-4000-8000-000000000000'))).toEqual([401, 'setup key invalid']);
    const plain = (await setupKey(api()))['key'];
    expect(message(await enrol(plain, { extra_dns_labels: ['ci'] }))).toEqual([
      403,
      'extra DNS labels need a setup key that allows them (`allow_extra_dns_labels`)',
    ]);
    const none = await newMachine(api()).enrol({});
    expect(message(none)).toEqual([
      401,
      'the enrolment is not authorized: send `setup_key`, or the access token of a user',
    ]);
  });

  it('is refused when its public key is already registered, in this or another account', async () => {
    const key = (await setupKey(api()))['key'] ?? '';
    const machine = newMachine(api());
    expect((await machine.enrol({ setup_key: key })).status).toBe(200);
    const again = await machine.enrol({ setup_key: key });
    expect([again.status, again.body.message]).toEqual([
      409,
      'a peer with this key already exists; log in, or enrol with a new key pair',
    ]);
    const { engine } = api();
    const outsider = newMachine(api());
    await engine.database.asOwner(async (run) => {
      await run(
        "insert into directory (account_id, kind, value, subject_id) values ('elsewhere', 'peer-key', $1, 'x')",
        [tunnelKeyOf(outsider.keys)],
      );
    });
    expect((await outsider.enrol({ setup_key: key })).status).toBe(409);
  });

  it('needs the approval of an administrator when the account requires it', async () => {
    await using own = await testApi('postgres', { edition: 'hosted' });
    const [account] = (await own.call('GET', '/api/accounts')).body;
    const extra = { ...account.settings.extra, peer_approval_enabled: true };
    await own.call('PUT', `/api/accounts/${account.id}`, { ...account, settings: { ...account.settings, extra } });
    const key = (await setupKey(own))['key'] ?? '';
    const { peer } = (await newMachine(own).enrol({ setup_key: key })).body;
    expect(peer).toMatchObject({
      approval_required: true,
      disapproval_reason: expect.stringContaining('administrator'),
    });
    const shown = (await own.call('GET', `/api/peers/${peer.id}`)).body;
    const approved = await own.call('PUT', `/api/peers/${peer.id}`, { ...shown, approval_required: false });
    expect(approved.body).toMatchObject({ approval_required: false });
    expect(approved.body.disapproval_reason).toBeUndefined();
  });
});

describe('a machine enrolled by a user', () => {
  it('belongs to that user, and has a login that expires', async () => {
    const { body: me } = await api().call('GET', '/api/users/current');
    const machine = newMachine(api());
    const { status, body } = await machine.enrol({ hostname: 'laptop' }, user);
    expect([status, body.peer.user_id]).toEqual([200, me.id]);
    const shown = (await api().call('GET', `/api/peers/${body.peer.id}`)).body;
    expect(shown).toMatchObject({ login_expiration_enabled: true, inactivity_expiration_enabled: true });
    expect(Date.parse(shown.last_login)).toBeGreaterThan(0);
    const [event] = (await api().call('GET', '/api/events/audit')).body;
    expect(event).toMatchObject({ activity_code: 'peer.user.add', initiator_id: me.id, target_id: body.peer.id });
    expect((await newMachine(api()).enrol({}, { authorization: 'Bearer nbp_none' })).status).toBe(401);
  });
});

describe('a machine that enrols at another server', () => {
  it('is accepted with a key created a moment ago, and refused with one revoked a moment ago', async () => {
    const { engine } = api();
    await using other = await apiOn(engine.database, async () => undefined, { vault: engine.planEnvironment.vault });
    expect((await other.call('GET', '/api/setup-keys')).status).toBe(200);
    const { id, key = '' } = await setupKey(api());
    expect(message(await newMachine(other).enrol({ setup_key: key }))).toEqual([200, undefined]);
    await api().call('PUT', `/api/setup-keys/${id}`, { revoked: true, auto_groups: [] });
    expect(message(await newMachine(other).enrol({ setup_key: key }))[1]).toMatch(/^the setup key is revoked/);
    await api().call('PUT', `/api/setup-keys/${id}`, { revoked: false, auto_groups: [] });
    expect(message(await newMachine(other).enrol({ setup_key: key }))).toEqual([200, undefined]);
  });
});

testKeyLimit(10);
