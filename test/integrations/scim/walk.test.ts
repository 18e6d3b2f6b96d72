import { describe, expect, it } from 'vitest';
import { patch, person, scimClient, team } from './client.ts';
import { openScim } from './scene.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0';

describe('a SCIM client (RFC 7644)', () => {
  it('creates, reads, replaces, changes, lists and deletes users', async () => {
    const { scim, api } = await openScim();
    const made = await scim('POST', '/Users', {
      ...person('ana@example.com', { externalId: 'x-ana', name: { givenName: 'Ana', familyName: 'Lima' } }),
      displayName: 'Ana Lima',
    });
    const { id } = made.body;
    expect(made.status).toBe(201);
    expect(made.headers['location']).toMatch(new RegExp(`/scim/v2/Users/${id}$`));
    expect(made.body).toMatchObject({
      ...{ schemas: [`${core}:User`], externalId: 'x-ana', userName: 'ana@example.com', displayName: 'Ana Lima' },
      ...{ name: { givenName: 'Ana', familyName: 'Lima' }, active: true },
      emails: [{ value: 'ana@example.com', type: 'work', primary: true }],
      meta: { resourceType: 'User', location: made.headers['location'] },
    });
    const read = await scim('GET', `/Users/${id}`);
    expect([read.status, read.body, read.headers['etag']]).toEqual([200, made.body, made.headers['etag']]);
    const replaced = await scim('PUT', `/Users/${id}`, person('ana@example.com', { displayName: 'Ana L.' }));
    expect([replaced.status, replaced.body.displayName, replaced.body.externalId]).toEqual([200, 'Ana L.', undefined]);
    expect(replaced.body.name).toBeUndefined();
    const changed = await scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'displayName', value: 'Ana' }));
    expect([changed.status, changed.body.displayName]).toEqual([200, 'Ana']);
    const listed = await scim('GET', '/Users');
    expect(listed.body).toMatchObject({ totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [changed.body] });
    expect(await scim('DELETE', `/Users/${id}`)).toMatchObject({ status: 204, body: {} });
    for (const method of ['GET', 'DELETE']) expect((await scim(method, `/Users/${id}`)).status).toBe(404);
    expect((await scim('PUT', `/Users/${id}`, person('ana@example.com'))).status).toBe(404);
    expect((await scim('GET', '/Users')).body).toMatchObject({ totalResults: 0, itemsPerPage: 0 });
    const kept = (await api.call('GET', `/api/users`)).body.find((user: { id: string }) => user.id === id);
    expect(kept).toMatchObject({ status: 'blocked', is_blocked: true });
  });

  it('creates, reads, replaces, changes, lists and deletes groups', async () => {
    const { scim, addUser, members } = await openScim();
    const [ana, ben] = [await addUser('ana@example.com'), await addUser('ben@example.com')];
    const made = await scim('POST', '/Groups', team('Staff', [ana], { externalId: 'g1' }));
    const { id } = made.body;
    expect([made.status, made.body.displayName, made.body.externalId]).toEqual([201, 'Staff', 'g1']);
    expect(made.body.members).toEqual([
      { value: ana, $ref: expect.stringMatching(new RegExp(`/scim/v2/Users/${ana}$`)), display: 'ana', type: 'User' },
    ]);
    expect((await scim('GET', `/Users/${ana}`)).body.groups).toEqual([
      {
        value: id,
        $ref: expect.stringMatching(new RegExp(`/scim/v2/Groups/${id}$`)),
        display: 'Staff',
        type: 'direct',
      },
    ]);
    expect((await scim('GET', `/Groups/${id}`)).body).toEqual(made.body);
    const replaced = await scim('PUT', `/Groups/${id}`, team('Crew', [ben]));
    expect([replaced.status, replaced.body.displayName, await members(id)]).toEqual([200, 'Crew', [ben]]);
    const renamed = await scim('PUT', `/Groups/${id}`, team('Team'));
    expect([renamed.body.displayName, await members(id)]).toEqual(['Team', [ben]]);
    expect(
      (await scim('PATCH', `/Groups/${id}`, patch({ op: 'add', path: 'members', value: [{ value: ana }] }))).status,
    ).toBe(204);
    expect([...(await members(id))].sort()).toEqual([ana, ben].sort());
    const shown = await scim('PATCH', `/Groups/${id}?attributes=displayName`, patch({ op: 'remove', path: 'members' }));
    expect([shown.status, shown.body.displayName, shown.body.members]).toEqual([200, 'Team', undefined]);
    expect((await scim('GET', '/Groups')).body).toMatchObject({ totalResults: 1, Resources: [{ id }] });
    expect((await scim('DELETE', `/Groups/${id}`)).status).toBe(204);
    expect((await scim('GET', `/Groups/${id}`)).status).toBe(404);
  });

  it('reads the capabilities of the server, which cannot be changed', async () => {
    const { scim } = await openScim();
    const { body: config } = await scim('GET', '/ServiceProviderConfig');
    expect(config).toMatchObject({
      ...{
        patch: { supported: true },
        bulk: { supported: false },
        sort: { supported: true },
        etag: { supported: true },
      },
      filter: { supported: true, maxResults: 500 },
      authenticationSchemes: [{ type: 'oauthbearertoken', primary: true }],
    });
    const types = await scim('GET', '/ResourceTypes');
    expect(types.body.Resources.map(({ id, endpoint }: { id: string; endpoint: string }) => [id, endpoint])).toEqual([
      ['User', '/Users'],
      ['Group', '/Groups'],
    ]);
    for (const { id, schema } of types.body.Resources) {
      expect((await scim('GET', `/ResourceTypes/${id}`)).body).toMatchObject({ id, schema });
      const { body } = await scim('GET', `/Schemas/${schema}`);
      for (const attribute of body.attributes)
        expect(attribute).toMatchObject({
          name: expect.any(String),
          mutability: expect.stringMatching(/^(readOnly|readWrite|immutable|writeOnly)$/),
          returned: expect.any(String),
          uniqueness: expect.any(String),
        });
    }
    expect((await scim('GET', '/Schemas')).body).toMatchObject({ totalResults: 2 });
    expect((await scim('GET', '/Schemas?filter=id%20pr')).status).toBe(403);
    const refused = await scim('POST', '/Schemas', {});
    expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET']);
    for (const path of ['/Me', '/Bulk']) expect((await scim('POST', path, {})).status).toBe(501);
    expect((await scim('GET', '/Me')).status).toBe(501);
    for (const path of ['', '/Nothing', '/Schemas/urn:x', '/Users/a/b', '/ServiceProviderConfig/x'])
      expect((await scim('GET', path)).status, path).toBe(404);
    expect((await scim('DELETE', '/Users')).headers['allow']).toBe('GET, POST');
  });

  it('is served at both base paths, with the token of an integration only', async () => {
    const { scim, addUser, api, token } = await openScim();
    const id = await addUser('ana@example.com');
    const other = scimClient(api.app, token, '/api/scim/v2');
    const { body } = await other('GET', `/Users/${id}`);
    expect(new URL(body.meta.location).pathname).toBe(`/api/scim/v2/Users/${id}`);
    for (const authorization of [
      '',
      'Bearer',
      'Bearer nbs_x',
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token} x`,
    ]) {
      const answer = await scim('GET', '/Users', undefined, { authorization });
      expect([answer.status, answer.headers['www-authenticate']], authorization).toEqual([401, 'Bearer']);
    }
    expect((await api.call('GET', '/api/groups', undefined, { authorization: `Bearer ${token}` })).status).toBe(401);
    const unauthorized = scimClient(api.app, 'nbp_0123');
    expect((await unauthorized('GET', '/Users')).status).toBe(401);
  });

  it('is accepted with the newest token only, while the integration exists and is enabled', async () => {
    const { scim, api, integration } = await openScim();
    const path = `/api/integrations/scim-idp/${integration}`;
    const renewed = await api.call('POST', `${path}/token`);
    expect((await scim('GET', '/Users')).status).toBe(401);
    const next = scimClient(api.app, renewed.body.auth_token);
    expect((await next('GET', '/Users')).status).toBe(200);
    await api.call('PUT', path, { enabled: false });
    expect([
      (await next('GET', '/Users')).status,
      (await next('POST', '/Users', person('a@example.com'))).status,
    ]).toEqual([403, 403]);
    await api.call('PUT', path, { enabled: true });
    expect((await next('GET', '/Users')).status).toBe(200);
    await api.call('DELETE', path);
    expect((await next('GET', '/Users')).status).toBe(401);
  });

  it('changes only the version that it names in If-Match, and gets 412 otherwise', async () => {
    const { scim, addUser, addGroup } = await openScim();
    const id = await addUser('ana@example.com');
    const { headers } = await scim('GET', `/Users/${id}`);
    const etag = headers['etag'] ?? '';
    expect(etag).toMatch(/^W\/"/);
    expect((await scim('GET', `/Users/${id}`, undefined, { 'if-none-match': etag })).status).toBe(304);
    const rename = (value: string, match: string) =>
      scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'displayName', value }), { 'if-match': match });
    const first = await rename('Ana', etag);
    expect([first.status, first.headers['etag'] === etag]).toEqual([200, false]);
    expect((await rename('Anna', etag)).status).toBe(412);
    expect((await scim('PUT', `/Users/${id}`, person('ana@example.com'), { 'if-match': etag })).status).toBe(412);
    expect((await scim('DELETE', `/Users/${id}`, undefined, { 'if-match': etag })).status).toBe(412);
    expect((await rename('Anna', `"x", ${first.headers['etag']}`)).status).toBe(200);
    expect((await rename('Ana', '*')).status).toBe(200);
    const group = await addGroup('Staff', [id]);
    const seen = (await scim('GET', `/Groups/${group}`)).headers['etag'] ?? '';
    expect(
      (await scim('PATCH', `/Groups/${group}`, patch({ op: 'remove', path: 'members' }), { 'if-match': seen })).status,
    ).toBe(204);
    expect((await scim('DELETE', `/Groups/${group}`, undefined, { 'if-match': seen })).status).toBe(412);
    expect((await scim('GET', '/Users/x', undefined, { 'if-match': '"a"' })).status).toBe(404);
  });

  it('gets 409 for a duplicate, and restores a deleted user under the same id', async () => {
    const { scim, addUser, addGroup } = await openScim();
    const id = await addUser('ana@example.com', { externalId: 'x1' });
    const again = await scim('POST', '/Users', person('ana@example.com', { externalId: 'x1' }));
    expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness']);
    expect((await scim('POST', '/Users', person('ANA@example.com'))).status).toBe(409);
    await scim('DELETE', `/Users/${id}`);
    const back = await scim('POST', '/Users', person('ana@example.com', { externalId: 'x1' }));
    expect([back.status, back.body.id, back.body.active]).toEqual([201, id, true]);
    await addGroup('Staff', [], { externalId: 'g1' });
    expect((await scim('POST', '/Groups', team('Staff', [], { externalId: 'g1' }))).body.scimType).toBe('uniqueness');
    expect((await scim('POST', '/Groups', team('Staff'))).status).toBe(409);
    expect((await scim('POST', '/Groups', team('Staff', [], { externalId: 'g2' }))).status).toBe(201);
  });
});

it('SCIM requests are counted in a metric by resource, method and status', async () => {
  const { scim, addUser, api } = await openScim();
  await addUser('ana@example.com');
  await scim('GET', '/Users/none');
  await scim('GET', '/Schemas');
  const { text } = await api.app.readMetrics();
  expect(text.split('\n').filter((line) => line.startsWith('heddle_scim_requests_total{'))).toEqual([
    'heddle_scim_requests_total{resource="users",method="POST",status="201"} 1',
    'heddle_scim_requests_total{resource="users",method="GET",status="404"} 1',
    'heddle_scim_requests_total{resource="other",method="GET",status="200"} 1',
  ]);
});
