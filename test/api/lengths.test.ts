import { describe, expect, it } from 'vitest';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi } from './setup.ts';

const shared = sharedApi();
const [name, description] = ['n'.repeat(256), 'd'.repeat(4097)];

/** Stores a name and a description that a release without limits accepted. */
async function storeLong(api: TestApi, id: string): Promise<void> {
  const spec = `jsonb_set(jsonb_set(spec, '{name}', '"${name}"'), '{description}', '"${description}"')`;
  await api.engine.database.asOwner([`update objects set name = '${name}', spec = ${spec} where id = '${id}'`]);
  api.engine.snapshots.drop(api.account);
}

describe('names and descriptions', () => {
  it.each([
    [{ name }, '/name', '`name` must have at most 255 characters'],
    [{ description }, '/description', '`description` must have at most 4096 characters'],
  ])('are refused over HTTP and in documents when they are too long', async (more, path, message) => {
    const api = shared();
    const refused = await api.call('POST', '/api/networks', { name: 'office', ...more });
    expect([refused.status, refused.body.problems]).toEqual([
      422,
      [expect.objectContaining({ code: 'value_too_long', path, message })],
    ]);
    const text = doc('Network', 'office', JSON.stringify(more).slice(1, -1).replace(':', ': '));
    const apply = await api.call('POST', '/api/config/apply?source=team', text, { 'content-type': 'application/yaml' });
    expect([apply.status, problemsOf(apply)]).toEqual([422, [expect.stringContaining('value_too_long')]]);
  });

  it('that are stored and too long are returned, and accepted unchanged along with other changes', async () => {
    const api = shared();
    const { id } = (await api.call('POST', '/api/networks', { name: 'old' })).body;
    await storeLong(api, id);
    const { body } = await api.call('GET', `/api/networks/${id}`);
    expect([body.name, body.description]).toEqual([name, description]);
    const before = await api.revision();
    expect((await api.call('PUT', `/api/networks/${id}`, { name, description })).status).toBe(200);
    expect(await api.revision()).toBe(before);
    expect((await api.call('PUT', `/api/networks/${id}`, { name: 'new', description })).status).toBe(200);
    const longer = await api.call('PUT', `/api/networks/${id}`, { name: 'new', description: `${description}d` });
    expect(longer.status).toBe(422);
  });

  it('that are stored and too long are accepted in documents', async () => {
    const api = shared();
    const apply = (text: string) =>
      api.call('POST', '/api/config/apply?source=kept', text, { 'content-type': 'application/yaml' });
    const stated = (text: string) => doc('Network', 'kept', `name: "${name}"\ndescription: ${text}`);
    const { id } = (await api.call('POST', '/api/networks', { name: 'kept' })).body;
    expect((await apply(doc('Network', 'kept', 'name: kept'))).status).toBe(200);
    await storeLong(api, id);
    expect((await apply(stated('short'))).status).toBe(200);
    const { body } = await api.call('GET', `/api/networks/${id}`);
    expect([body.name, body.description]).toEqual([name, 'short']);
  });
});

it('more than 100 authorities in a posture check are refused', async () => {
  const checks = { certificate_check: { ca_certificates: Array.from({ length: 101 }, (_, at) => `authority ${at}`) } };
  const refused = await shared().call('POST', '/api/posture-checks', { name: 'many', checks });
  expect(refused.status).toBe(422);
  expect(problemsOf(refused)).toContain('list_too_long /checks/certificate_check/ca_certificates');
});

it('secrets are refused over HTTP when they are too long', async () => {
  const channel = { type: 'webhook', event_types: ['user.join'], enabled: true };
  const target = { url: 'https://hooks.example.com', headers: { Authorization: 's'.repeat(65_537) } };
  const refused = await shared().call('POST', '/api/integrations/notifications/channels', { ...channel, target });
  expect([refused.status, problemsOf(refused)]).toEqual([422, ['value_too_long /target/headers/Authorization']]);
});
