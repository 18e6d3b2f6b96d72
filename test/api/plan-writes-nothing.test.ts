import { expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { sha256 } from '../../src/lib/node-pure.ts';
import { eachEngine } from '../setup/database.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi } from './setup.ts';

const group = (name: string, description: string) => doc('Group', name, `name: ${description}`);
const policy = doc(
  'Policy',
  'web',
  'rules:\n  - {name: main, action: accept, protocol: all, sources: [devs], destinations: [All]}',
);
const file = (...documents: readonly string[]) => ({
  source: 'team',
  files: [{ path: 'a.yaml', text: documents.join('---\n') }],
});

/** Returns a hash of all rows of all tables, except stored plans and the time when each token was last used. */
async function hashOf(database: Database): Promise<string> {
  const texts: string[] = [];
  await database.asOwner(async (run) => {
    const tables = await run(
      `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace order by 1`,
    );
    expect(tables.length).toBeGreaterThan(12);
    for (const { name } of tables) {
      if (name === 'plans') continue;
      const rows = await run(`select (to_jsonb(t) - 'last_used')::text as row from ${name} t order by 1`);
      texts.push(`${name}\n${rows.map(({ row }) => row).join('\n')}`);
    }
  });
  return sha256(texts.join('\n\n'));
}

const planOf = async (api: TestApi, ...documents: readonly string[]) =>
  (await api.call('POST', '/api/config/plans', file(...documents))).body;

eachEngine('on %s', (engine) => {
  it('a plan writes nothing', async () => {
    await using api = await testApi(engine);
    await api.call('POST', '/api/config/apply', file(group('devs', 'Devs'), group('a', 'A'), group('b', 'B'), policy));
    const before = await hashOf(api.engine.database);
    const changing = await planOf(api, group('devs', 'Developers'), group('c', 'C'), policy);
    expect(changing.counts).toEqual({ create: 1, update: 1, delete: 2, claims: 0 });
    expect((await planOf(api, '# nothing left\n')).state).toBe('needs_approval');
    for (const rest of ['', '.md', '/patch']) await api.call('GET', `/api/config/plans/${changing.id}${rest}`);
    await api.call('POST', '/api/config/apply?dryRun=true', file(group('devs', 'Developers')));
    await api.call('POST', '/api/config/validate', file(group('devs', 'Developers')));
    expect((await api.call('POST', '/api/config/plans', file('kind: Nothing'))).status).toBe(422);
    expect(await hashOf(api.engine.database)).toBe(before);
  });

  it('a plan stopped by access guards writes nothing, and neither do queries about its access', async () => {
    await using api = await testApi(engine);
    await api.peers('ana', 'db');
    for (const { id } of (await api.call('GET', '/api/policies')).body) await api.call('DELETE', `/api/policies/${id}`);
    const test = doc('AccessTest', 'kept', 'from: devs\nto: All\nexpect: allow');
    const devs = doc('Group', 'devs', 'peers: [ana]');
    await api.call('POST', '/api/config/apply', file(devs, policy, test));
    const settings = { type: 'push', limits: { maxAccessLost: 0, lostOwnAccess: 'Peer/db' } };
    expect((await api.call('PUT', '/api/config/sources/team', settings)).status).toBe(200);
    const before = await hashOf(api.engine.database);
    const less = await planOf(api, devs);
    expect([less.state, less.guards, less.access.lost.pairs]).toMatchObject([
      'needs_approval',
      [{ guard: 'access_lost' }],
      1,
    ]);
    for (const path of [`plans/${less.id}/access`, 'tests', 'access?from=ana&to=db'])
      expect((await api.call('GET', `/api/config/${path}`)).status).toBe(200);
    expect((await api.call('POST', '/api/config/tests', file(devs, test))).body.failed).toBe(1);
    const refused = await api.call('POST', '/api/config/apply', file(devs, test));
    expect([refused.status, refused.body.problems]).toMatchObject([422, [{ code: 'access_test_failed' }]]);
    expect(await hashOf(api.engine.database)).toBe(before);
  });

  it('E104 a plan is refused when a row that it changes was changed meanwhile, and nothing is written', async () => {
    await using api = await testApi(engine);
    await api.call('POST', '/api/config/apply', file(group('devs', 'Devs'), policy));
    const [{ id: policyId, ...web }] = (await api.call('GET', '/api/policies')).body.filter(
      ({ name }: { name: string }) => name === 'web',
    );
    const { id } = await planOf(api, group('devs', 'Devs'), `${policy}  description: by file\n`);
    const rules = web.rules.map((rule: { sources: { id: string }[]; destinations: { id: string }[] }) => ({
      ...rule,
      sources: rule.sources.map((group) => group.id),
      destinations: rule.destinations.map((group) => group.id),
    }));
    const put = await api.call('PUT', `/api/policies/${policyId}`, { ...web, rules, description: 'by hand' });
    expect([put.status, put.body.description]).toEqual([200, 'by hand']);
    const before = await hashOf(api.engine.database);
    const refused = await api.call('POST', `/api/config/plans/${id}/apply`);
    expect([refused.status, refused.body.problems[0].message]).toEqual([
      412,
      'Policy web: `description` is "by hand" now and was "" when the plan was made; machine owner changed it in revision 3',
    ]);
    expect(await hashOf(api.engine.database)).toBe(before);
  });

  it('E103 a plan is applied when only an unrelated row was changed meanwhile', async () => {
    await using api = await testApi(engine);
    const { id } = await planOf(api, group('devs', 'Devs'), policy);
    await api.group('unrelated');
    const applied = await api.call('POST', `/api/config/plans/${id}/apply`);
    expect([applied.status, applied.body.revision]).toEqual([200, 3]);
  });
});
