import { expect } from 'vitest';
import { followServices } from '../../../src/features/proxy/services.ts';
import { addCluster } from '../../spec/world.ts';
import { type ProfileScene, type RowTests, setupKey, sshRule } from './scene.ts';

const never = '0001-01-01T00:00:00Z';

/** Returns the tests of rows about what requests may contain and how they are answered. */
export const requests = (scene: ProfileScene): RowTests => {
  const { api, ours, theirs } = scene;
  return {
    async 'setup keys that never expire'() {
      const made = await theirs('POST', '/api/setup-keys', { ...setupKey, expires_in: 0 });
      expect(made).toMatchObject({ status: 200, body: { expires: never, state: 'valid', valid: true } });
      const path = `/api/setup-keys/${made.body.id}`;
      expect((await ours('GET', path)).body.expires).toBe(never);
      const revoked = await theirs('PUT', path, { revoked: true, auto_groups: [] });
      expect(revoked.body).toMatchObject({ expires: never, state: 'revoked' });
      for (const expires_in of [1, 60, 63072000])
        expect((await theirs('POST', '/api/setup-keys', { ...setupKey, expires_in })).status).toBe(200);
      for (const [call, expires_in] of [
        [theirs, -1],
        [ours, 0],
        [ours, 60],
      ] as const)
        expect((await call('POST', '/api/setup-keys', { ...setupKey, expires_in })).status).toBe(422);
    },

    async 'the usual port of a target'() {
      const [peer = ''] = await api().peers('port');
      await addCluster(api(), 'ports.example.com', {});
      const { engine, account } = api();
      const state = await engine.snapshots.fresh(account);
      const cluster = state.ofKind('ProxyCluster').find(({ name }) => name === 'ports.example.com')?.id ?? '';
      const target = { target_id: peer, target_type: 'peer', protocol: 'https', port: 0, enabled: true };
      const service = { name: 'ports', domain: 'a.ports.example.com', enabled: true, targets: [target] };
      const made = await theirs('POST', '/api/reverse-proxies/services', service);
      expect(made).toMatchObject({ status: 200, body: { targets: [{ port: 0 }] } });
      const path = `/api/reverse-proxies/services/${made.body.id}`;
      expect((await theirs('PUT', path, made.body)).body).toEqual(made.body);
      expect((await ours('PUT', path, { ...made.body, name: 'stored' })).status).toBe(200);
      const followed = followServices(engine, { account, cluster, id: 'none', token: 'none' });
      expect(JSON.stringify((await followed.next())?.data['services'])).toContain('"port":443');
      for (const port of [-1, 65536])
        expect((await theirs('PUT', path, { ...service, targets: [{ ...target, port }] })).status).toBe(422);
      const tcp = { ...service, name: 'tcp', domain: 'b.ports.example.com', mode: 'tcp' };
      const refused = await theirs('POST', '/api/reverse-proxies/services', {
        ...tcp,
        targets: [{ ...target, protocol: 'tcp' }],
      });
      expect(refused).toMatchObject({ status: 422, body: { problems: [{ path: '/targets/0/port' }] } });
      expect(
        (await ours('POST', '/api/reverse-proxies/services', { ...service, domain: 'c.ports.example.com' })).status,
      ).toBe(422);
    },

    async 'rules that a client does not know'() {
      const group = await api().group('ruled');
      const rules = ['first', 'second'].map((name) => ({ ...sshRule(group), name, protocol: 'tcp' }));
      const { body, headers } = await ours('POST', '/api/policies', { name: 'two rules', enabled: true, rules });
      const path = `/api/policies/${body.id}`;
      const [known, hidden] = body.rules;
      const less = { ...body, rules: [known] };
      const refused = await theirs('PUT', path, less);
      expect(refused).toMatchObject({ status: 409, body: { code: 409 } });
      expect(refused.body.message).toBe(
        `policy ${body.id} has 2 rules, and the request would drop \`second\` (${hidden.id}); send all of them, or, to drop them, send \`If-Match\` with the ETag that you read`,
      );
      expect((await theirs('GET', path)).body).toEqual(body);
      expect((await theirs('PUT', path, { ...body, rules: [...body.rules].reverse() })).status).toBe(200);
      expect((await theirs('PUT', path, less, { 'if-match': headers['etag'] ?? '' })).status).toBe(412);
      const { headers: current } = await theirs('GET', path);
      expect((await theirs('PUT', path, less, { 'if-match': current['etag'] ?? '' })).body.rules).toHaveLength(1);
      expect((await theirs('PUT', '/api/policies/none', less)).status).toBe(404);
      expect((await ours('PUT', path, { ...body, rules })).body.rules).toHaveLength(2);
      expect((await ours('PUT', path, { ...body, rules: rules.slice(1) })).body.rules).toHaveLength(1);
    },

    async 'endpoint security without an integration'() {
      for (const product of ['sentinelone', 'intune', 'fleetdm', 'falcon', 'vendor-a']) {
        const read = await theirs('GET', `/api/integrations/edr/${product}`);
        expect(read).toMatchObject({ status: 200, body: {} });
        expect(Object.keys(read.body)).toEqual([]);
      }
      expect((await ours('GET', '/api/integrations/edr/vendor-a')).status).toBe(404);
      expect((await theirs('PUT', '/api/integrations/edr/falcon', {})).status).toBe(404);
    },

    async 'the challenge of a tenant that is not met'() {
      const tenant = { name: 'Acme', domain: 'acme.example.net', groups: [] };
      const { body } = await theirs('POST', '/api/integrations/msp/tenants', tenant);
      const path = `/api/integrations/msp/tenants/${body.id}`;
      const refused = await theirs('POST', `${path}/dns`);
      expect(refused).toMatchObject({ status: 501, body: { code: 501 } });
      expect(refused.body.message).toMatch(/^the TXT record _heddle-challenge\.acme\.example\.net does not contain/);
      expect((await ours('POST', `${path}/dns`)).status).toBe(412);
      expect((await theirs('DELETE', path)).status).toBe(200);
    },

    async 'a group that is asked for by name and not there'() {
      const path = `/api/groups?name=${encodeURIComponent('Lost & found')}`;
      const missed = await theirs('GET', path);
      expect(missed).toMatchObject({ status: 404, body: { message: 'group: Lost & found not found', code: 404 } });
      expect(missed.headers).not.toHaveProperty('etag');
      expect(await ours('GET', path)).toMatchObject({ status: 200, body: [] });
      const id = await api().group('Lost & found');
      expect((await theirs('GET', path)).body).toMatchObject([{ id, name: 'Lost & found' }]);
      // The group exists, so an empty page after it is answered with 200.
      expect((await theirs('GET', `${path}&limit=1`)).body).toMatchObject([{ id }]);
      expect(await theirs('GET', `${path}&limit=1&after=${id}`)).toMatchObject({ status: 200, body: [] });
      // Only a search for a group by name answers 404. Other lists may be empty.
      expect(await theirs('GET', '/api/routes')).toMatchObject({ status: 200, body: [] });
    },
  };
};
