import { expect, it } from 'vitest';
import { createVault } from '../../src/db/sealing/vault.ts';
import { doc } from './documents.ts';
import { asOperator, testApi } from './setup.ts';

const channels = '/api/integrations/notifications/channels';
const text = 'sealed: the box in the cellar';

it('a text that begins with `sealed:` is plain text: it is shown and exported, and a rotation of secrets leaves it unchanged', async () => {
  const [old, fresh] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  await using api = await testApi('postgres', { vault: createVault([fresh, old]) });
  const zone = await api.call('POST', '/api/groups', { name: text });
  expect([zone.status, zone.body.name]).toEqual([200, text]);
  const files = [{ path: 'a.yaml', text: doc('Group', 'box', `name: "${text} below"`) }];
  const plan = await api.call('POST', '/api/config/plans', { source: 'team', files });
  expect(JSON.stringify(plan.body.changes)).toContain(text);
  expect((await api.call('POST', '/api/config/apply', { source: 'team', files })).status).toBe(200);
  const rotated = await api.call('POST', '/api/config/secrets/rotate', {}, asOperator);
  expect([rotated.status, rotated.body]).toEqual([200, { rows: 0, unreadable: [], unreadableCount: 0 }]);
  expect((await api.call('GET', '/api/config/export?format=json')).body).toContainEqual(
    expect.objectContaining({ kind: 'Group', spec: expect.objectContaining({ name: text }) }),
  );
  const history = await api.call('GET', `/api/config/revisions/${await api.revision()}`);
  expect(JSON.stringify(history.body)).not.toContain('(secret)');
});

it('an export marks a stored secret as `stored: true`, which is accepted for that object and refused for another', async () => {
  await using api = await testApi();
  const target = { url: 'https://x.example.com', headers: { 'X-Key': 'hunter2' } };
  const made = await api.call('POST', channels, { type: 'webhook', event_types: ['user.join'], enabled: true, target });
  expect(made.status).toBe(200);
  const exported = await api.call('GET', '/api/config/export?format=json');
  expect(JSON.stringify(exported.body)).not.toContain('sealed:');
  const found = exported.body.find(({ kind }: { readonly kind: string }) => kind === 'NotificationChannel');
  expect(found.spec.target.headers).toEqual({ 'X-Key': { valueFrom: { stored: true } } });
  const push = (document: unknown) => ({ source: 'team', files: [{ path: 'a.json', text: JSON.stringify(document) }] });
  const same = await api.call('POST', '/api/config/plans', push(found));
  expect([same.status, same.body.counts]).toMatchObject([201, { create: 0, update: 0 }]);
  const { annotations: _, ...metadata } = found.metadata;
  const elsewhere = await api.call(
    'POST',
    '/api/config/plans',
    push({ ...found, metadata: { ...metadata, name: 'copy' } }),
  );
  expect([elsewhere.status, elsewhere.body.problems?.[0]?.code]).toEqual([422, 'secret_unset']);
});

it('the URL of a webhook is shown to readers of the channel, and masked in plans and the history', async () => {
  await using api = await testApi();
  const url = 'https://hooks.example.com/let-me-in';
  const spec = `{type: webhook, event_types: [user.join], enabled: true, target: {url: "${url}"}}`;
  const files = [{ path: 'a.yaml', text: doc('NotificationChannel', 'hook', spec) }];
  const plan = await api.call('POST', '/api/config/plans', { source: 'team', files });
  const patch = await api.call('GET', `/api/config/plans/${plan.body.id}/patch`);
  const applied = await api.call('POST', '/api/config/apply', { source: 'team', files });
  expect([plan.status, patch.status, applied.status]).toEqual([201, 200, 200]);
  const history = await api.call('GET', `/api/config/revisions/${await api.revision()}`);
  for (const { body } of [plan, patch, applied, history]) {
    expect(JSON.stringify(body)).not.toContain('let-me-in');
    expect(JSON.stringify(body)).toContain('(secret)');
  }
  expect((await api.call('GET', channels)).body[0].target.url).toBe(url);
});
