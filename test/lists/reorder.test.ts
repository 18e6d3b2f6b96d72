import { describe, expect, it } from 'vitest';
import { rowChanges } from '../../src/db/commit/rows.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { membersInOrder } from '../../src/model/state/members.ts';
import { doc } from '../api/documents.ts';
import { apiOn, sharedApi, type TestApi } from '../api/setup.ts';
import { testDatabase } from '../setup/database.ts';

const api = sharedApi();

const ids = (list: readonly JsonObject[]): readonly Json[] => list.map(({ id }) => id ?? null);
const apply = async (own: TestApi, source: string, text: string) => {
  const answer = await own.call('POST', '/api/config/apply', { source, files: [{ path: 'a.yaml', text }] });
  expect([answer.status, answer.body.problems]).toEqual([200, undefined]);
  return answer.body;
};
const drift = async (source: string) => (await api().call('GET', `/api/config/drift?source=${source}`)).body;

describe('a list with every element owned by one source', () => {
  const text = (groups: string) =>
    `${['a', 'b', 'c'].map((name) => doc('Group', `r-${name}`, '{}')).join('---\n')}---\n${doc(
      'Policy',
      'reordered',
      `rules: [{name: main, action: accept, protocol: tcp, ports: ["443", "80"], sources: [${groups}], destinations: [All]}]`,
    )}`;

  it('can be reordered over the API, with one new revision and ETag, and without refusal or drift', async () => {
    await apply(api(), 'guarded', text('r-c, r-a, r-b'));
    const policies = (await api().call('GET', '/api/policies')).body;
    const { id } = policies.find(({ name }: JsonObject) => name === 'reordered');
    const before = await api().call('GET', `/api/policies/${id}`);
    const [rule] = before.body.rules;
    expect(rule.sources.map(({ name }: JsonObject) => name)).toEqual(['r-c', 'r-a', 'r-b']);
    expect(rule.ports).toEqual(['443', '80']);
    const revision = await api().revision();
    const sources = [...ids(rule.sources)].reverse();
    const body = {
      ...before.body,
      rules: [{ ...rule, sources, destinations: ids(rule.destinations), ports: ['80', '443'] }],
    };
    const put = await api().call('PUT', `/api/policies/${id}`, body, { 'if-match': before.headers['etag'] ?? '' });
    expect([put.status, ids(put.body.rules[0].sources), put.body.rules[0].ports]).toEqual([
      200,
      sources,
      ['80', '443'],
    ]);
    expect(await api().revision()).toBe(revision + 1);
    const after = await api().call('GET', `/api/policies/${id}`);
    expect(Number(after.headers['etag']?.slice(1).split('.')[0])).toBe(revision + 1);
    expect((await drift('guarded')).units).toEqual([]);
    // The documents state the same lists as before, in any order.
    for (const groups of ['r-c, r-a, r-b', 'r-a, r-b, r-c']) {
      expect((await apply(api(), 'guarded', text(groups))).revision ?? null).toBeNull();
    }
    expect(await api().revision()).toBe(revision + 1);
    expect((await api().call('GET', `/api/policies/${id}`)).body).toEqual(after.body);
  });
});

it('a list that documents add to keeps its order, and new elements follow in written order', async () => {
  const peers = ['o1', 'o2', 'o3', 'o4', 'o5'];
  const made = await api().peers(...peers);
  const of = (list: string) => doc('Group', 'ordered', `peers: [${list}]`);
  await apply(api(), 'adding', of('o4, o2'));
  const read = async () => {
    const { id } = (await api().call('GET', '/api/groups?name=ordered')).body[0];
    return (await api().call('GET', `/api/groups/${id}`)).body.peers.map(
      (peer: JsonObject) => made.indexOf(String(peer['id'])) + 1,
    );
  };
  expect(await read()).toEqual([4, 2]);
  await apply(api(), 'adding', of('o1, o2, o3, o4'));
  expect(await read()).toEqual([4, 2, 1, 3]);
  await apply(api(), 'adding', of('o5, o1, o3, o4'));
  expect(await read()).toEqual([4, 1, 3, 5]);
});

it('a rollback ignores the order: a reordering alone plans no change, and restored members come last', async () => {
  const [a = '', b = '', c = ''] = await api().peers('k1', 'k2', 'k3');
  const id = await api().group('rolled', [a, b, c]);
  const before = await api().revision();
  await api().call('PUT', `/api/groups/${id}`, { name: 'rolled', peers: [c, a, b] });
  const rollback = () => api().call('POST', `/api/config/revisions/${before}/rollback`, { scope: 'all' });
  const planned = await rollback();
  expect([planned.status, planned.body.changes]).toEqual([201, []]);
  await api().call('PUT', `/api/groups/${id}`, { name: 'rolled', peers: [c, b] });
  const done = await rollback();
  expect((await api().call('POST', `/api/config/plans/${done.body.id}/apply`)).status).toBe(200);
  expect(ids((await api().call('GET', `/api/groups/${id}`)).body.peers)).toEqual([c, b, a]);
});

it('moving one of a thousand members writes one membership row', async () => {
  const peers = await api().peers(...Array.from({ length: 1000 }, (_, at) => `m${at}`));
  const id = await api().group('thousand', peers);
  const { engine, account } = api();
  const move = async (list: readonly string[]) => {
    const base = await engine.snapshots.fresh(account);
    const put = await api().call('PUT', `/api/groups/${id}`, { name: 'thousand', peers: list });
    expect(ids(put.body.peers)).toEqual(list);
    const next = await engine.snapshots.fresh(account);
    const { moveReferences, insertReferences, deleteReferences } = rowChanges(base, next, [id]);
    expect((await loadSnapshot(engine.database, engine.registry, account))?.get(id)).toEqual(next.get(id));
    return [moveReferences, insertReferences, deleteReferences].map((rows) => rows.length);
  };
  const [first = '', ...others] = peers;
  expect(await move([...others, first])).toEqual([1, 0, 0]);
  expect(await move(peers)).toEqual([1, 0, 0]);
  const middle = peers.toSpliced(500, 1);
  const last = middle.pop() ?? '';
  expect(await move([last, ...middle, peers[500] ?? ''])).toEqual([2, 0, 0]);
  expect(await move([last, ...middle])).toEqual([0, 0, 1]);
});

describe('a server of the previous release', () => {
  it('writes members without a position: they are ordered by id, and the others keep their order', async () => {
    const made = await testDatabase('postgres');
    await using own = await apiOn(made.database, () => made[Symbol.asyncDispose]());
    const [a = '', b = '', c = '', d = ''] = await own.peers('a', 'b', 'c', 'd');
    const id = await own.group('mixed', [d, a, c]);
    // The old server adds `b` with the columns that it has.
    const other = await openDatabase(made.url === undefined ? {} : { url: made.url });
    await other.asOwner(async (run) => {
      await run(
        "insert into object_refs (account_id, from_id, field, to_id, origin) values ($1, $2, 'peers', $3, 'api')",
        [own.account, id, b],
      );
    });
    const state = await loadSnapshot(other, own.engine.registry, own.account);
    await other.close();
    const group = state?.get(id);
    if (group === undefined) throw new Error('the group is gone');
    const order = membersInOrder(group, 'peers');
    expect(order.filter((peer) => peer !== b)).toEqual([d, a, c]);
    expect(order).toContain(b);
  });
});
