import { beforeAll, describe, expect, it } from 'vitest';
import { noObservations } from '../../src/access/ruleset/facts.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { withMemberEdits } from '../../src/model/state/members.ts';
import { endpointsAt } from '../../src/objects/endpoints-at.ts';
import { doc } from '../api/documents.ts';
import { sharedServer } from '../cli/served.ts';
import { putObjects } from '../setup/objects.ts';

const server = sharedServer();

const group = (name: string, peers: readonly string[] = []) => doc('Group', name, `peers: [${peers.join(', ')}]`);
const rule = (from: string, to: string, port: string) =>
  `{name: r, action: accept, protocol: tcp, ports: ["${port}"], sources: [${from}], destinations: [${to}]}`;
const policy = (name: string, from: string, to: string, port: string) =>
  doc('Policy', name, `rules: [${rule(from, to, port)}]`);
const groups = [group('devs', ['ana', 'ben']), group('db', ['db1', 'db2'])];

/** Sends the documents of a source to an endpoint below `/api/config`. */
const send = (path: string, source: string, documents: readonly string[], more: JsonObject = {}) => {
  const files = [{ path: `${source}.yaml`, text: documents.join('---\n') }];
  return server().api.call('POST', `/api/config/${path}`, { source, files, ...more });
};

/** Applies documents and expects success. Returns the plan. */
async function apply(source: string, documents: readonly string[], more: JsonObject = {}): Promise<JsonObject> {
  const answer = await send('apply', source, documents, more);
  expect([answer.status, answer.body.message]).toEqual([200, undefined]);
  return answer.body.plan;
}

/** Creates a service user with a role and, if given, a peer. Returns its credentials. */
async function member(name: string, role: string, peer?: string): Promise<Readonly<Record<string, string>>> {
  const { call, engine, account } = server().api;
  const { id } = (await call('POST', '/api/users', { name, role, auto_groups: [], is_service_user: true })).body;
  await putObjects(engine, account, (state) => {
    const object = peer === undefined ? undefined : state.findByKey('Peer', peer);
    return object === undefined ? [] : [{ ...object, spec: { ...object.spec, user_id: id } }];
  });
  const made = await call('POST', `/api/users/${id}/tokens`, { name: 'test', expires_in: 1 });
  return { authorization: `Token ${made.body.plain_token}` };
}

const sum = (pairs: number, conditional = 0) => ({ pairs, conditional });
const named = (key: string, kind = 'Group') => ({ kind, key, name: key });

beforeAll(async () => {
  const { api } = server();
  await api.peers('ana', 'ben', 'db1', 'db2');
  for (const { id } of (await api.call('GET', '/api/policies')).body) await api.call('DELETE', `/api/policies/${id}`);
});

describe('a plan with access changes', () => {
  it('reports gained and lost access by group, also when stored', async () => {
    const stored = await send('plans', 'office', [...groups, policy('data', 'devs', 'db', '5432')]);
    const gained = {
      ...{ change: 'gained', traffic: 'tcp/5432', ...sum(4) },
      from: named('devs'),
      to: named('db'),
    };
    const access = { gained: sum(4), lost: sum(0), groups: [gained], omitted: 0 };
    expect([stored.status, stored.body.access]).toEqual([201, access]);
    const { call } = server().api;
    expect((await call('GET', `/api/config/plans/${stored.body.id}`)).body.access).toEqual(access);
    const markdown = (await call('GET', `/api/config/plans/${stored.body.id}.md`)).body;
    expect(markdown).toContain(
      '**Access is gained between 4 pairs.**\n\n```diff\n+ devs → db: tcp/5432 (4 pairs)\n```',
    );
    const applied = await call('POST', `/api/config/plans/${stored.body.id}/apply`);
    expect([applied.status, applied.body.plan.access]).toEqual([200, access]);
    const moved = await send('plans', 'office', [...groups, policy('data', 'devs', 'db', '80')]);
    expect(moved.body.access).toMatchObject({
      ...{ gained: sum(4), lost: sum(4) },
      groups: [
        { change: 'gained', traffic: 'tcp/80' },
        { change: 'lost', traffic: 'tcp/5432' },
      ],
    });
  });

  it('omits access when nothing relevant changes, and reports zero pairs when no access changes', async () => {
    const present = [...groups, policy('data', 'devs', 'db', '5432')];
    const zone = doc('DNSZone', 'zone', 'domain: example.com\ndistribution_groups: [devs]');
    expect((await send('plans', 'office', [...present, zone])).body).not.toHaveProperty('access');
    const empty = (await send('plans', 'office', [...present, group('new')])).body;
    expect(empty.access).toEqual({ gained: sum(0), lost: sum(0), groups: [], omitted: 0 });
  });

  it('ignores facts reported by peers: such access is shown as conditional on posture checks', async () => {
    const check = doc('PostureCheck', 'recent', 'checks: {client_version_check: {min_version: "2.0"}}');
    const guarded = doc('Policy', 'checked', `source_posture_checks: [recent]\nrules: [${rule('devs', 'db', '22')}]`);
    const documents = [...groups, policy('data', 'devs', 'db', '5432'), check, guarded];
    const first = (await send('plans', 'office', documents)).body;
    expect(first.access).toMatchObject({ gained: sum(4, 4) });
    const { engine, call } = server().api;
    const peers: readonly { readonly id: string }[] = (await call('GET', '/api/peers')).body;
    const facts = new Map(peers.map(({ id }) => [id, { clientVersion: '1.0.0' }]));
    const reported = { ...noObservations, facts };
    engine.access.setObservationSource({ read: async () => reported });
    const second = (await send('plans', 'office', documents)).body;
    expect([second.access, second.digest]).toEqual([first.access, first.digest]);
  });

  it('lists the peer pairs on request, filtered by source and destination', async () => {
    const { id } = (await send('plans', 'office', [...groups, policy('data', 'devs', 'db', '80')])).body;
    const read = (query: string) => server().api.call('GET', `/api/config/plans/${id}/access${query}`);
    const all = (await read('')).body;
    expect([all.gained, all.lost, all.more, all.pairs.length]).toEqual([sum(4), sum(4), false, 4]);
    expect(all.pairs[0]).toEqual({
      from: { kind: 'Peer', key: 'ana', name: 'Peer ana' },
      to: { kind: 'Peer', key: 'db1', name: 'Peer db1' },
      ...{ gained: 'tcp/80', lost: 'tcp/5432' },
    });
    expect((await read('?from=ana&to=Peer/db2')).body.pairs).toHaveLength(1);
    expect((await read('?from=devs&limit=3')).body).toMatchObject({ more: true, pairs: [{}, {}, {}] });
    expect((await read('?from=nobody')).status).toBe(404);
  });

  it('lists the pairs of deleted objects too', async () => {
    await apply('brief', [group('guests', ['ana']), policy('guests-in', 'guests', 'db', '99')]);
    const { id } = (await send('plans', 'brief', [], { allowEmpty: true })).body;
    const { body } = await server().api.call('GET', `/api/config/plans/${id}/access?from=Group/guests`);
    expect([body.lost, body.pairs.map(({ lost }: JsonObject) => lost)]).toEqual([sum(2), ['tcp/99', 'tcp/99']]);
    await apply('brief', [], { allowEmpty: true });
  });

  it('lists pairs and patches for callers who may read plans but not make them', async () => {
    const { id } = (await send('plans', 'office', [...groups, policy('data', 'devs', 'db', '80')])).body;
    const headers = await member('Ada', 'auditor');
    for (const what of ['access', 'patch']) {
      const read = await server().api.call('GET', `/api/config/plans/${id}/${what}`, undefined, headers);
      expect([what, read.status, read.body.message]).toEqual([what, 200, undefined]);
    }
  });

  it('is printed by heddle with its access changes, and the pairs with --access', async () => {
    const own = server();
    const { id } = (await send('plans', 'office', [...groups, policy('data', 'devs', 'db', '80')])).body;
    const shown = await own.heddle(['plans', id, '--access']);
    expect([shown.code, shown.out]).toEqual([
      0,
      expect.stringContaining(
        'Access is gained between 4 pairs and lost between 4 pairs.\n  + devs → db: tcp/80 (4 pairs)\n  - devs → db: tcp/5432 (4 pairs)\n',
      ),
    ]);
    expect(shown.out).toContain('Access, pair by pair:\n  + ana → db1: tcp/80\n  - ana → db1: tcp/5432\n');
    const { document } = await own.json('plans', id, '--access');
    expect(document).toMatchObject({ access: { gained: sum(4) }, accessPairs: { more: false } });
    const asked = await own.heddle(['apply', id, '--access', '--json'], { interactive: true });
    expect([asked.code, asked.note]).toEqual([1, expect.stringContaining('\n  + ana → db1: tcp/80\n')]);
    expect(JSON.parse(asked.out).plan.accessPairs).toEqual(document.accessPairs);
  });

  it('is formatted for GitHub, GitLab and Markdown with its access changes, and the pairs with --access', async () => {
    const own = server();
    const { id } = (await send('plans', 'office', [...groups, policy('data', 'devs', 'db', '80')])).body;
    const written = async (format: string) => (await own.heddle(['plans', id, '--access', '--format', format])).out;
    const github = (await written('github')).split('\n');
    expect(github.filter((line) => line.includes('access')).slice(0, 3)).toEqual([
      '::warning title=access is gained::Access is gained between 4 pairs:%0A+ devs → db: tcp/80 (4 pairs)',
      '::warning title=access is lost::Access is lost between 4 pairs:%0A- devs → db: tcp/5432 (4 pairs)',
      '::notice title=access::+ ana → db1: tcp/80',
    ]);
    expect(JSON.parse(await written('gitlab'))).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          check_name: 'access_lost',
          description: 'access is lost: Access is lost between 4 pairs: - devs → db: tcp/5432 (4 pairs)',
        }),
        expect.objectContaining({ check_name: 'access_pair', description: 'access: - ana → db1: tcp/5432' }),
      ]),
    );
    expect(await written('markdown')).toContain(
      '<summary>Access, pair by pair</summary>\n\n```diff\n+ ana → db1: tcp/80\n- ana → db1: tcp/5432\n',
    );
  });

  it('reports for a rollback which access is restored', async () => {
    const { call } = server().api;
    const [{ revision }] = (await call('GET', '/api/config/revisions?limit=1')).body;
    await apply('office', [...groups, policy('data', 'devs', 'db', '81')]);
    const back = await call('POST', `/api/config/revisions/${revision}/rollback`, { scope: 'source:office' });
    expect([back.status, back.body.access]).toMatchObject([
      201,
      {
        groups: [
          { change: 'gained', traffic: 'tcp/5432' },
          { change: 'lost', traffic: 'tcp/81' },
        ],
      },
    ]);
    const words = ['rollback', String(revision), '--scope', 'source:office', '--access', '--json'];
    const { plan } = JSON.parse((await server().heddle(words, { interactive: true })).out);
    expect(plan.accessPairs.pairs[0]).toMatchObject({ gained: 'tcp/5432', lost: 'tcp/81' });
    await apply('office', [...groups, policy('data', 'devs', 'db', '5432')]);
  });
});

describe('an access guard', () => {
  const limit = async (source: string, limits: JsonObject) => {
    const { engine, account } = server().api;
    const actor = { type: 'user', id: 'u', name: 'u' } as const;
    await recordSource(engine, { account, actor }, { id: source, type: 'push', spec: { limits } });
  };
  const guardsOf = ({ body }: Awaited<ReturnType<typeof send>>) => body.plan.guards;

  it('on lost or gained access trips at one pair above the limit, and names the groups', async () => {
    await limit('office', { maxAccessLost: 3, maxAccessGained: 4 });
    const open = [...groups, policy('data', 'devs', 'db', '5432')];
    const stopped = await send('apply', 'office', [...groups, policy('data', 'devs', 'db', '82')]);
    expect([stopped.status, guardsOf(stopped)]).toEqual([
      428,
      [
        {
          guard: 'access_lost',
          message: 'takes away access between 4 pairs, most from devs to db (tcp/5432); up to 3 need no approval',
        },
      ],
    ]);
    await limit('office', { maxAccessLost: 4, maxAccessGained: 3 });
    const other = await send('apply', 'office', [...groups, policy('data', 'devs', 'db', '82')]);
    expect([other.status, guardsOf(other)]).toMatchObject([428, [{ guard: 'access_gained' }]]);
    await limit('office', { maxAccessLost: 4, maxAccessGained: 4 });
    await apply('office', [...groups, policy('data', 'devs', 'db', '82')]);
    await apply('office', open);
  });

  it('of every source applies to a rollback that restores objects of that source', async () => {
    await apply('office', [...groups, policy('data', 'devs', 'db', '83')]);
    const { call } = server().api;
    const [{ revision }] = (await call('GET', '/api/config/revisions?limit=1')).body;
    await apply('office', [...groups, policy('data', 'devs', 'db', '5432')]);
    await limit('office', { maxAccessLost: 3 });
    for (const scope of ['sources', 'all', 'source:office']) {
      const back = await call('POST', `/api/config/revisions/${revision}/rollback`, { scope });
      expect([scope, back.status, back.body.guards]).toMatchObject([scope, 201, [{ guard: 'access_lost' }]]);
    }
    await limit('office', {});
  });

  it('E74 is passed only with the digest of exactly this plan', async () => {
    await limit('office', { maxAccessLost: 0 });
    const none = groups;
    const one = await send('apply', 'office', none);
    const two = await send('apply', 'office', [...groups, policy('data', 'devs', 'devs', '5432')]);
    const digest = (answer: typeof one) => answer.body.plan.digest;
    expect([one.status, two.status, digest(one) === digest(two)]).toEqual([428, 428, false]);
    expect((await send('apply', 'office', none, { approve: digest(two) })).status).toBe(428);
    // A peer that joins a group after the plan changes the numbers, but not the changes that were approved.
    const [id = ''] = await server().api.peers('carl');
    await putObjects(server().api.engine, server().api.account, (state) => {
      const devs = state.findByKey('Group', 'devs');
      return devs === undefined ? [] : [withMemberEdits(devs, 'peers', [[id, ['enrolment']]])];
    });
    expect((await send('apply', 'office', none, { approve: digest(one) })).status).toBe(200);
  });

  it("trips on a plan that removes the caller's last access to the management service", async () => {
    const own = server().api;
    await limit('office', { lostOwnAccess: 'Peer/db1' });
    await putObjects(own.engine, own.account, (state) => {
      const [ana, owner] = [state.findByKey('Peer', 'ana'), state.ofKind('User')[0]];
      return ana === undefined || owner === undefined ? [] : [{ ...ana, spec: { ...ana.spec, user_id: owner.id } }];
    });
    await apply('office', [...groups, policy('data', 'devs', 'db', '5432')]);
    await apply('office', [...groups, policy('data', 'devs', 'db', '443')]);
    const stopped = await send('apply', 'office', groups);
    expect([stopped.status, guardsOf(stopped)]).toEqual([
      428,
      [
        {
          guard: 'own_access',
          message: 'removes the last access of ana to Peer/db1, through which this service is managed',
        },
      ],
    ]);
    // Permission to ping the service is not enough to manage it.
    const ping = 'rules: [{name: r, action: accept, protocol: icmp, sources: [devs], destinations: [db]}]';
    const other = await send('apply', 'office', [...groups, doc('Policy', 'ping', ping)]);
    expect([other.status, guardsOf(other)]).toMatchObject([428, [{ guard: 'own_access' }]]);
    await limit('office', { lostOwnAccess: 'Peer/nobody' });
    await apply('office', groups);
  });

  it('reports the same for a stored plan to every caller who applies it', async () => {
    const { engine, account, call } = server().api;
    const headers = await member('Bea', 'admin', 'ben');
    await limit('office', {});
    await apply('office', [...groups, policy('data', 'devs', 'db', '5432')]);
    await limit('office', { lostOwnAccess: 'Peer/db1' });
    const onlyBen = [group('devs', ['ben']), group('db', ['db1', 'db2']), policy('data', 'devs', 'db', '5432')];
    const { id, digest, guards } = (await send('plans', 'office', onlyBen)).body;
    expect(guards).toMatchObject([
      { guard: 'own_access', message: expect.stringContaining('removes the last access of ana to ') },
    ]);
    const applied = await call('POST', `/api/config/plans/${id}/apply`, { approve: digest }, headers);
    expect([applied.status, applied.body.message]).toEqual([200, undefined]);
    // The caller's loss of access is reported, although the plan was not stopped for its author.
    await apply('office', [...groups, policy('data', 'devs', 'db', '5432')]);
    const onlyAna = [group('devs', ['ana']), group('db', ['db1', 'db2']), policy('data', 'devs', 'db', '5432')];
    const other = (await send('plans', 'office', onlyAna)).body;
    expect([other.state, other.guards]).toEqual(['ready', []]);
    const refused = await call('POST', `/api/config/plans/${other.id}/apply`, undefined, headers);
    expect([refused.status, refused.body.message]).toEqual([
      412,
      expect.stringContaining('removes the last access of ben to Peer/db1, through which this service is managed'),
    ]);
    await putObjects(engine, account, (state) => {
      const ben = state.findByKey('Peer', 'ben');
      return ben === undefined ? [] : [{ ...ben, spec: { ...ben.spec, user_id: '' } }];
    });
    await limit('office', {});
    await apply('office', groups);
  });

  it('finds the service by its public address, unless the source sets another one', async () => {
    const { engine, account, call } = server().api;
    const { planEnvironment } = engine;
    const host = (name?: string, port?: number) =>
      Object.assign(engine, {
        planEnvironment: name === undefined ? planEnvironment : { ...planEnvironment, host: name, port },
      });
    const settings = (await call('GET', '/api/accounts')).body[0].settings;
    const ip = String(settings.network_range).replace('.0.0/16', '.99.7');
    await putObjects(engine, account, (state) => {
      const db1 = state.findByKey('Peer', 'db1');
      return db1 === undefined ? [] : [{ ...db1, spec: { ...db1.spec, ip } }];
    });
    const network = (await call('POST', '/api/networks', { name: 'behind' })).body.id;
    const resource = { name: 'far', address: '*.far.example.com', enabled: true, groups: [] };
    await call('POST', `/api/networks/${network}/resources`, resource);
    const reached = [...groups, policy('data', 'devs', 'db', '5432')];
    await limit('office', {});
    try {
      for (const name of [ip, 'db1.heddle.internal']) {
        await apply('office', reached);
        host(name);
        const stopped = await send('apply', 'office', groups);
        expect([stopped.status, guardsOf(stopped)]).toMatchObject([428, [{ guard: 'own_access' }]]);
        expect(guardsOf(stopped)[0]?.message).toContain(`to ${name}, through which`);
        host('elsewhere.example.com');
        await apply('office', groups);
      }
      await apply('office', reached);
      host(ip, 5432);
      const shell = await send('apply', 'office', [...groups, policy('data', 'devs', 'db', '22')]);
      expect([shell.status, guardsOf(shell)]).toMatchObject([428, [{ guard: 'own_access' }]]);
      host(ip, 22);
      await apply('office', [...groups, policy('data', 'devs', 'db', '22')]);
      host('elsewhere.example.com');
      await apply('office', groups);
      const state = await engine.snapshots.fresh(account);
      expect(endpointsAt(state, 'deep.far.example.com')).toHaveLength(1);
      expect(endpointsAt(state, 'far.example.com')).toEqual([]);
    } finally {
      host();
    }
    await call('DELETE', `/api/networks/${network}`);
  });

  it('applies to documents only: endpoints of the specification never need an approval', async () => {
    await limit('office', { maxAccessLost: 0 });
    await apply('office', [...groups, policy('data', 'devs', 'db', '5432')]);
    const { call } = server().api;
    const made = await call('POST', '/api/groups', { name: 'free', peers: [] });
    expect(made.status).toBe(200);
    const free = { name: 'r', enabled: true, action: 'drop', bidirectional: false, protocol: 'all' };
    const devs = (await call('GET', '/api/groups?name=devs')).body[0].id;
    const drop = { name: 'x', enabled: true, rules: [{ ...free, sources: [devs], destinations: [devs] }] };
    expect((await call('POST', '/api/policies', drop)).status).toBe(200);
  });
});
