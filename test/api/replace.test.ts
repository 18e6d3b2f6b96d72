import { expect, it } from 'vitest';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { testApi } from './setup.ts';

it('E38, E89 a changed lifetime recreates a setup key if `allowReplace` is set: one revision, a new number and value', async () => {
  await using api = await testApi();
  const send = (expiresIn: number, more = {}) => {
    const text = doc('SetupKey', 'lab', `name: Lab\ntype: reusable\nexpires_in: ${expiresIn}`);
    return api.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 'keys.yaml', text }], ...more });
  };
  const first = await send(86_400);
  expect(first.status).toBe(200);
  const refused = await send(172_800);
  expect([refused.status, problemsOf(refused)]).toEqual([422, ['field_fixed /spec/expires_in']]);
  const replaced = await send(172_800, { allowReplace: true });
  expect([replaced.status, replaced.body.plan.counts]).toEqual([200, { create: 1, update: 0, delete: 1, claims: 0 }]);
  const [create] = replaced.body.plan.changes;
  expect(create).toMatchObject({ action: 'create', key: 'lab', risks: [expect.stringContaining('a new id')] });
  expect(replaced.body.outputs[0].value).not.toBe(first.body.outputs[0].value);
  const keys = (await api.call('GET', '/api/setup-keys')).body;
  expect(keys.map(({ id, name }: { id: number; name: string }) => [id, name])).toEqual([[2, 'Lab']]);
  expect((await send(172_800, { allowReplace: true })).body.revision).toBe(null);
});
