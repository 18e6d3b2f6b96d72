import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { putObjects } from '../setup/objects.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();
const peers = '/api/peers';
const settings = { ssh_enabled: false, login_expiration_enabled: false, inactivity_expiration_enabled: false };
const never = '0001-01-01T00:00:00Z';
const put = (id: string, change: JsonObject, own = api()) =>
  own.call('PUT', `${peers}/${id}`, { name: 'Peer', ...settings, ...change });

/** Sets values that enrolment and the connection of a peer would report, or other settings of the peer. */
async function report(own: TestApi, id: string, derived: JsonObject, spec: JsonObject = {}): Promise<void> {
  await putObjects(own.engine, own.account, (state) => {
    const peer = state.get(id);
    if (peer === undefined) return [];
    return [{ ...peer, spec: { ...peer.spec, ...spec }, derived: { ...peer.derived, ...derived } }];
  });
}

/** Returns the prefixes of the address ranges of the account. */
async function rangesOf(own: TestApi): Promise<{ readonly v4: string; readonly v6: string }> {
  const [account] = (await own.call('GET', '/api/accounts')).body;
  const { network_range, network_range_v6 } = account.settings;
  return { v4: network_range.replace('.0.0/16', ''), v6: network_range_v6.replace('::/64', '') };
}

describe('peers', () => {
  it('return every field, with defaults for facts that are not known yet', async () => {
    await using own = await testApi();
    const [id = ''] = await own.peers('laptop');
    const group = await own.group('developers', [id]);
    const [all] = (await own.call('GET', '/api/groups?name=All')).body;
    const summary = { peers_count: 1, resources_count: 0, issued: 'api' };
    const unknown = {
      id,
      name: 'Peer laptop',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      ip: '100.64.0.1',
      network_addresses: [],
      connection_ip: '',
      connected: false,
      last_seen: never,
      os: '',
      kernel_version: '',
      geoname_id: 0,
      version: '',
      groups: [
        { id: all.id, name: 'All', ...summary },
        { id: group, name: 'developers', ...summary },
      ],
      ...settings,
      user_id: '',
      hostname: 'laptop',
      ui_version: '',
      dns_label: 'laptop.heddle.internal',
      login_expired: false,
      last_login: never,
      approval_required: false,
      country_code: '',
      city_name: '',
      serial_number: '',
      extra_dns_labels: [],
      ephemeral: false,
      local_flags: {
        ...{ quantum_safe_enabled: false, quantum_safe_permissive: false, server_ssh_allowed: false },
        ...{ remote_jobs_allowed: false, disable_client_routes: false, disable_server_routes: false },
        ...{ disable_dns: false, disable_firewall: false, block_lan_access: false, block_inbound: false },
        lazy_connection_enabled: false,
      },
    };
    const one = await own.call('GET', `${peers}/${id}`);
    expect([one.status, one.body]).toEqual([200, unknown]);
    expect((await own.call('GET', peers)).body).toEqual([{ ...one.body, accessible_peers_count: 0 }]);
    const facts = {
      ...{ network_addresses: [{ net_ip: '10.20.0.7/24', mac: '02:42:0a:14:00:07' }], connection_ip: '192.0.2.7' },
      ...{ connected: true, last_seen: '2026-01-02T03:04:05Z', os: 'Debian 13', geoname_id: 2950159 },
      ...{ country_code: 'DE', city_name: 'Berlin', local_flags: { disable_dns: true } },
    };
    await report(own, id, facts, { extra_dns_labels: ['ci'] });
    expect((await own.call('GET', `${peers}/${id}`)).body).toEqual({
      ...unknown,
      ...facts,
      extra_dns_labels: ['ci.heddle.internal'],
      local_flags: { ...unknown.local_flags, disable_dns: true },
    });
  });

  it('are filtered by parts of name and address, and by a whole MAC address', async () => {
    await using own = await testApi();
    const [laptop = ''] = await own.peers('laptop', 'phone');
    await report(own, laptop, { network_addresses: [{ net_ip: '10.20.0.7/24', mac: '02:42:0a:14:00:07' }] });
    const found = async (query: string): Promise<readonly string[]> =>
      (await own.call('GET', `${peers}?${query}`)).body.map(({ hostname }: { hostname: string }) => hostname).sort();
    expect(await found('name=lap')).toEqual(['laptop']);
    expect(await found('name=Peer')).toEqual(['laptop', 'phone']);
    expect(await found('name=nobody')).toEqual([]);
    expect(await found('ip=0.2')).toEqual(['phone']);
    expect(await found('mac=02:42:0A:14:00:07')).toEqual(['laptop']);
    expect(await found('mac=02:42')).toEqual([]);
    expect(await found('name=Peer&ip=0.2')).toEqual(['phone']);
  });

  it('are replaced, and keep an address that the request omits', async () => {
    const own = api();
    const [id = ''] = await own.peers('runner');
    const { v4, v6 } = await rangesOf(own);
    const renamed = await put(id, { name: 'CI runner', ssh_enabled: true, ip: `${v4}.7.9`, ipv6: `${v6}::79` }, own);
    expect([renamed.status, renamed.body]).toMatchObject([
      200,
      {
        name: 'CI runner',
        ssh_enabled: true,
        ip: `${v4}.7.9`,
        ipv6: `${v6}::79`,
        dns_label: 'ci-runner.heddle.internal',
      },
    ]);
    const again = await put(id, { name: 'CI runner' }, own);
    expect(again.body).toEqual({ ...renamed.body, ssh_enabled: false });
    const before = await own.revision();
    const same = await own.call('PUT', `${peers}/${id}`, again.body);
    expect([same.status, same.body, same.headers['heddle-ignored']]).toEqual([200, again.body, undefined]);
    expect(await own.revision()).toBe(before);
  });

  it('cannot be created over this API (405)', async () => {
    expect((await api().call('POST', peers, { name: 'x' })).status).toBe(405);
  });

  it.each(['name', 'ssh_enabled', 'login_expiration_enabled', 'inactivity_expiration_enabled'])(
    'require %s',
    async (name) => {
      const [id = ''] = await api().peers(`without-${name.replaceAll('_', '-')}`);
      const whole: JsonObject = { name: 'Peer', ...settings };
      const body = Object.fromEntries(Object.entries(whole).filter(([member]) => member !== name));
      const answer = await api().call('PUT', `${peers}/${id}`, body);
      expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
    },
  );

  it('are answered with 404 when they do not exist', async () => {
    for (const answer of [
      await api().call('GET', `${peers}/nobody`),
      await api().call('DELETE', `${peers}/nobody`),
      await put('nobody', {}),
    ])
      expect([answer.status, answer.body.message]).toEqual([404, 'peer nobody not found']);
  });

  it('have unique addresses inside the ranges of the account', async () => {
    const [one = '', other = ''] = await api().peers('address-one', 'address-other');
    const { v4, v6 } = await rangesOf(api());
    const refusal = async (change: JsonObject) => {
      const answer = await put(other, change);
      return [answer.status, ...problemsOf(answer)];
    };
    expect((await put(one, { name: 'one', ip: `${v4}.9.9`, ipv6: `${v6}::99` })).status).toBe(200);
    expect(await refusal({ ip: '10.9.9.9' })).toEqual([422, 'peer_address_outside /ip']);
    expect(await refusal({ ip: `${v4}.0.0` })).toEqual([422, 'peer_address_outside /ip']);
    expect(await refusal({ ip: `${v4}.255.255` })).toEqual([422, 'peer_address_outside /ip']);
    expect(await refusal({ ip: 'here' })).toEqual([422, 'ipv4_invalid /ip']);
    expect(await refusal({ ip: `${v4}.9.9` })).toEqual([409, 'value_taken /ip']);
    expect(await refusal({ ipv6: 'fd00::1' })).toEqual([422, 'peer_address_outside /ipv6']);
    expect(await refusal({ ipv6: `${v6}:0:0:0:99` })).toEqual([409, 'value_taken /ipv6']);
  });

  it('refuse an expiration when no user could sign them in again', async () => {
    const [id = ''] = await api().peers('with-a-key');
    for (const name of ['login_expiration_enabled', 'inactivity_expiration_enabled']) {
      const answer = await put(id, { [name]: true });
      expect([answer.status, problemsOf(answer)]).toEqual([412, [`precondition_failed /${name}`]]);
    }
    const [owner] = (await api().call('GET', '/api/users')).body;
    await report(api(), id, {}, { user_id: owner.id });
    expect((await put(id, { login_expiration_enabled: true })).body.login_expiration_enabled).toBe(true);
  });

  it('accept `approval_required: true` in the hosted edition only', async () => {
    const [id = ''] = await api().peers('to-approve');
    const answer = await put(id, { approval_required: true });
    expect([answer.status, problemsOf(answer)]).toEqual([412, ['edition_required /approval_required']]);
    expect((await put(id, { approval_required: false })).status).toBe(200);
  });

  it('are approved in the hosted edition, and keep `approval_required` when a request omits it', async () => {
    await using own = await testApi('postgres', { edition: 'hosted' });
    const [id = ''] = await own.peers('to-approve');
    expect((await put(id, { approval_required: true }, own)).body.approval_required).toBe(true);
    expect((await put(id, { name: 'Other' }, own)).body.approval_required).toBe(true);
    expect((await put(id, { approval_required: false }, own)).body.approval_required).toBe(false);
  });

  it('get a DNS label with their address appended when their own label is taken', async () => {
    const [one = ''] = await api().peers('taken', 'untaken');
    const [, other = ''] = await api().peers('x-one', 'x-two');
    expect((await put(one, { name: 'Taken' })).body.dns_label).toBe('taken.heddle.internal');
    const { body } = await put(other, { name: 'taken' });
    expect(body.dns_label).toBe(`taken-${body.ip.split('.').slice(2).join('-')}.heddle.internal`);
  });
});

describe('DELETE /api/peers/{id}', () => {
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };

  it('removes the peer from its groups, and deletes the policies that target it', async () => {
    await using own = await testApi();
    const [id = '', other = ''] = await own.peers('going', 'staying');
    const group = await own.group('both', [id, other]);
    const body = (target: JsonObject) => ({
      name: 'p',
      enabled: true,
      rules: [{ ...rule, sources: [group], ...target }],
    });
    const about = await own.call('POST', '/api/policies', body({ destinationResource: { id, type: 'peer' } }));
    const policy = await own.call('POST', '/api/policies', body({ destinations: [group] }));
    const before = await own.revision();
    const gone = await own.call('DELETE', `${peers}/${id}`);
    expect([gone.status, gone.body, await own.revision()]).toEqual([200, '', before + 1]);
    expect((await own.call('GET', `${peers}/${id}`)).status).toBe(404);
    expect((await own.call('GET', `/api/policies/${about.body.id}`)).status).toBe(404);
    expect((await own.call('GET', `/api/policies/${policy.body.id}`)).status).toBe(200);
    expect((await own.call('GET', `/api/groups/${group}`)).body.peers).toEqual([{ id: other, name: 'Peer staying' }]);
  });

  it('is refused with 412, naming the router, when the peer is a router', async () => {
    const [id = ''] = await api().peers('routing');
    const network = (await api().call('POST', '/api/networks', { name: 'office' })).body.id;
    const router = { peer: id, metric: 100, masquerade: true, enabled: true };
    expect((await api().call('POST', `/api/networks/${network}/routers`, router)).status).toBe(200);
    const refused = await api().call('DELETE', `${peers}/${id}`);
    expect([refused.status, refused.body.message]).toEqual([412, expect.stringContaining('linked to network router')]);
  });
});

describe('documents of peers', () => {
  const source = (text: string, name = 'git') => ({ source: name, files: [{ path: 'peers.yaml', text }] });
  const document = (name: string, spec: string) => `
apiVersion: heddle.dev/v1
kind: Peer
metadata: {name: ${name}}
spec: ${spec}
`;

  it('state settings of an existing peer, and leave its other settings unmanaged', async () => {
    await using own = await testApi();
    const [id = ''] = await own.peers('laptop');
    const text = document('laptop', '{ssh_enabled: true}');
    expect((await own.call('POST', '/api/config/apply', source(text))).status).toBe(200);
    expect((await own.call('GET', `${peers}/${id}`)).body).toMatchObject({ name: 'Peer laptop', ssh_enabled: true });
    expect((await own.call('POST', '/api/config/apply', source(text))).body.revision).toBeNull();
    const managed = await put(id, { ssh_enabled: false }, own);
    expect([managed.status, problemsOf(managed)]).toEqual([409, ['managed_field /ssh_enabled']]);
    const renamed = await put(id, { name: 'Other', ssh_enabled: true }, own);
    expect(renamed.body).toMatchObject({ name: 'Other', dns_label: 'laptop.heddle.internal' });
    expect((await own.call('DELETE', `${peers}/${id}`)).status).toBe(200);
  });

  it('are pending until their peer exists', async () => {
    const own = api();
    const group = document('staff', '{peers: [tablet]}').replace('Peer', 'Group');
    const text = `${document('tablet', '{ssh_enabled: true}')}---${group}`;
    const waiting = await own.call('POST', '/api/config/apply', source(text, 'pending'));
    expect([waiting.status, waiting.body.plan.counts]).toMatchObject([200, { create: 1 }]);
    expect(waiting.body.plan.warnings).toMatchObject([
      { code: 'object_pending', kind: 'Peer', key: 'tablet' },
      { code: 'reference_pending', kind: 'Group', key: 'staff' },
    ]);
    const [id = ''] = await own.peers('tablet');
    await own.call('POST', '/api/config/apply', source(text, 'pending'));
    const { ssh_enabled, groups } = (await own.call('GET', `${peers}/${id}`)).body;
    expect([ssh_enabled, groups.map(({ name }: { name: string }) => name)]).toEqual([true, ['All', 'staff']]);
  });

  it('cannot state fields that enrolment sets', async () => {
    await api().peers('enrolled');
    const answer = await api().call('POST', '/api/config/apply', source(document('enrolled', '{hostname: x}')));
    expect(problemsOf(answer)).toEqual(['field_unknown /spec/hostname']);
  });
});
