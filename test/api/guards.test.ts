import { expect, it } from 'vitest';
import { doc } from './documents.ts';
import { testApi } from './setup.ts';

const policy = (at: number) =>
  doc('Policy', `p${at}`, `rules: [{name: r, action: accept, protocol: all, sources: [g${at}], destinations: [All]}]`);
const team = (groups: readonly number[]) =>
  [...groups.map((at) => doc('Group', `g${at}`, '{}')), ...groups.map(policy)].join('---\n');
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

it('E62, E64, E74 deleting a third of the documents requires approval of exactly that plan; deleting all, `allowEmpty` too', async () => {
  await using api = await testApi();
  const send = (path: string, text: string, more = {}) =>
    api.call('POST', `/api/config/${path}`, { source: 'team', files: [{ path: 'team.yaml', text }], ...more });
  expect((await send('apply', team(upTo(20)))).status).toBe(200);
  const fewer = team(upTo(13));
  const stopped = await send('apply', fewer);
  expect([stopped.status, stopped.body.plan.guards.map(({ guard }: { guard: string }) => guard)]).toEqual([
    428,
    ['deletes'],
  ]);
  // The plan lists the objects that it would delete, and what uses them.
  const deleted = stopped.body.plan.changes.filter(({ action }: { action: string }) => action === 'delete');
  const gone = upTo(20).slice(13);
  expect(deleted.map(({ key }: { key: string }) => key).sort()).toEqual(
    [...gone.map((at) => `g${at}`), ...gone.map((at) => `p${at}`)].sort(),
  );
  expect(deleted.find(({ key }: { key: string }) => key === 'g13').usedBy).toEqual(['policy: p13 (source team)']);
  const { digest } = stopped.body.plan;
  const other = await send('apply', team(upTo(12)), { approve: digest });
  expect(other.status).toBe(428);
  expect((await send('apply', fewer, { approve: 'x'.repeat(64) })).status).toBe(428);
  expect((await send('apply', fewer, { approve: digest })).status).toBe(200);
  const empty = await send('apply', '');
  expect([empty.status, empty.body.plan.guards[0].guard]).toEqual([428, 'empty']);
  const allowed = await send('apply', '', { allowEmpty: true });
  expect(allowed.status).toBe(428);
  const all = await send('apply', '', { allowEmpty: true, approve: allowed.body.plan.digest });
  expect([all.status, all.body.plan.counts.delete]).toEqual([200, 26]);
});

it('E65 an apply of some kinds or labels applies only these and deletes nothing', async () => {
  await using api = await testApi();
  const send = (query: string, body: string) =>
    api.call('POST', `/api/config/apply?source=team&${query}`, body, { 'content-type': 'application/yaml' });
  const labelled = `${doc('Group', 'data', '{}').replace('metadata:', 'metadata:\n  labels: {team: data}')}---\n${doc('Group', 'web', '{}')}`;
  expect((await send('', doc('Group', 'old', '{}'))).status).toBe(200);
  const some = await send('select=team%3Ddata', labelled);
  expect([some.status, some.body.plan.counts]).toEqual([200, { create: 1, update: 0, delete: 0, claims: 0 }]);
  expect((await send('kinds=Policy', labelled)).body.revision).toBe(null);
  expect((await send('kinds=Grup', labelled)).body.message).toContain('did you mean `Group`?');
  const wrong = await send('select=team%3D%3D%3Ddata', labelled);
  expect([wrong.status, wrong.body.message]).toEqual([422, expect.stringContaining('cannot be read at `team===data`')]);
  expect((await send('adopt=always', labelled)).status).toBe(422);
});
