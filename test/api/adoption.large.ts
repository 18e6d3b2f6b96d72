import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { rows } from '../spec/fields.ts';
import { pathOf } from '../spec/walk.ts';
import { createWorld, type World } from '../spec/world.ts';
import { problemsOf } from './problems.ts';
import { type TestApi, testApi } from './setup.ts';

/**
 * Creates objects over HTTP, of every kind that can be created this way, until the account has at least `objects` of
 * them.
 */
async function fill(world: World, objects: number): Promise<void> {
  const { api } = world;
  const creations = api.engine.registry.kinds.flatMap((kind) => {
    const row = kind.path === undefined ? undefined : rows[`POST ${kind.path}`];
    return row === undefined ? [] : [{ kind, row }];
  });
  // The table of the specification contains neither nameserver groups nor DNS settings.
  const [groups, nameservers] = [[await world.group()], [{ ip: '10.20.0.53' }]];
  await world.send('POST', '/api/dns/nameservers', { name: 'DNS', nameservers, enabled: true, groups, primary: true });
  await world.send('PUT', '/api/dns/settings', { disabled_management_groups: groups });
  // Custom domains of reverse proxies are not in the table either.
  const domain = { domain: 'adopted.example.org', target_cluster: 'proxy.example.com' };
  await world.send('POST', '/api/reverse-proxies/domains', domain);
  const count = async () => (await api.engine.snapshots.current(api.account)).size;
  for (let round = 0; round === 0 || (await count()) < objects; round += 1) {
    for (const { kind, row } of creations) {
      if (kind.single === true && round > 0) continue;
      for (const sample of row.request?.samples ?? []) {
        const parameters = (await (sample.at ?? row.at)?.(world)) ?? {};
        await row.before?.(world, parameters);
        await world.send('POST', pathOf(`POST ${kind.path}`, parameters), await sample.body(world, parameters));
      }
    }
  }
}

/** Returns the spec of each object by id, regardless of whether a source has declared it. */
function valuesOf(state: Snapshot): ReadonlyMap<string, JsonObject> {
  const origins = (spec: JsonObject): JsonObject =>
    JSON.parse(JSON.stringify(spec).replaceAll('"api","source"', '"api"'));
  return new Map([...state.objects()].map(({ id, kind, spec }) => [id, { kind, spec: origins(spec) }]));
}

const state = ({ engine, account }: TestApi) => engine.snapshots.current(account);

it('E76, E80 exporting, committing and applying a thousand objects of all kinds adopts them without changes', async () => {
  const txt = new Map<string, readonly string[]>();
  await using api = await testApi('postgres', { edition: 'hosted', resolveTxt: async (name) => txt.get(name) ?? [] });
  const exported = async (query = '') => (await api.call('GET', `/api/config/export${query}`)).body;
  const plan = async (source: string, text: string) => {
    const answer = await api.call('POST', '/api/config/plans', { source, files: [{ path: 'account.yaml', text }] });
    expect([answer.status, problemsOf(answer)]).toEqual([201, []]);
    return answer.body;
  };
  await fill(createWorld(api, 'hosted', txt), 1000);
  const before = await state(api);
  const text = await exported();
  expect((await plan('git', await exported('?markAdopt=true'))).changes).toEqual([]);
  expect((await plan('git', text)).changes).toEqual([]);
  const applied = await api.call('POST', '/api/config/apply', {
    source: 'git',
    files: [{ path: 'account.yaml', text }],
  });
  expect([applied.status, applied.body.plan.counts]).toMatchObject([200, { create: 0, update: 0, delete: 0 }]);
  expect(applied.body.plan.claims.length).toBeGreaterThan(900);
  const after = await state(api);
  expect(valuesOf(after)).toEqual(valuesOf(before));
  const kinds = new Set(after.declaredBy('git').map(({ kind }) => kind));
  // A kind without an endpoint is created by documents only, so it has nothing to adopt.
  const made = api.engine.registry.kinds.filter(({ document, path }) => document.allowed && path !== undefined);
  const declarable = made.map(({ name }) => name);
  expect(declarable.filter((name) => !kinds.has(name))).toEqual([]);
  const [change] = (await api.call('GET', `/api/config/revisions/${after.revision}`)).body.changes;
  expect(change).toMatchObject({ action: 'claim', units: [] });
  // The same documents in another order.
  const shuffled = text
    .split(/^---\n/m)
    .reverse()
    .map((document: string) => document.trimEnd())
    .join('\n---\n');
  expect((await plan('git', shuffled)).counts).toEqual({ create: 0, update: 0, delete: 0, claims: 0 });
  // Applying the same text from another file, or an export that marks the objects that have their keys by now, writes
  // nothing.
  const moved = await api.call('POST', '/api/config/apply', { source: 'git', files: [{ path: 'renamed.yaml', text }] });
  expect([moved.status, moved.body.revision]).toEqual([200, null]);
  const marked = await exported('?markAdopt=true');
  expect((await plan('git', marked)).counts).toEqual({ create: 0, update: 0, delete: 0, claims: 0 });
  expect((await plan('another', marked)).changes).toEqual([]);
});
