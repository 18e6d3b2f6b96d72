import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { testApi } from '../setup.ts';

it('a partial replace keeps members that were given empty, and an export omits them', async () => {
  await using api = await testApi('postgres', { edition: 'hosted' });
  const path = '/api/integrations/directory-idp';
  const made = await api.call('POST', path, {
    ...{ client_secret: 'c2VjcmV0', client_id: 'client', tenant_id: 'tenant', host: 'microsoft.com' },
    ...{ sync_interval: 300, connector_id: '' },
  });
  expect(made.body).toMatchObject({ connector_id: '' });
  const changed = await api.call('PUT', `${path}/${made.body.id}`, { sync_interval: 600 });
  expect(changed.body).toEqual({ ...made.body, sync_interval: 600 });
  const group = await api.group('staff');
  const rule = { ...{ name: 'web', enabled: true, action: 'accept', protocol: 'tcp', bidirectional: false } };
  const rules = ['web', 'mail'].map((name) => ({
    ...rule,
    name,
    sources: [group],
    destinations: [group],
    ports: ['80'],
  }));
  const [web = {}, mail = {}] = rules;
  const body = { name: 'staff', enabled: true, rules: [web, { ...mail, port_ranges: [] }] };
  const policy = await api.call('POST', '/api/policies', body);
  expect(policy.body.rules.map((one: JsonObject) => one['port_ranges'])).toEqual([undefined, []]);
  // Only the presence of the empty `port_ranges` differs, which counts as a change.
  const revision = await api.revision();
  const ids = policy.body.rules.map((one: JsonObject) => one['id']);
  const again = {
    ...body,
    rules: [
      { ...web, id: ids[0], port_ranges: [] },
      { ...mail, id: ids[1] },
    ],
  };
  const put = await api.call('PUT', `/api/policies/${policy.body.id}`, again);
  expect(put.body.rules.map((one: JsonObject) => one['port_ranges'])).toEqual([[], undefined]);
  expect(await api.revision()).toBe(revision + 1);
  expect((await api.call('GET', '/api/config/export')).body).not.toContain('port_ranges');
});
