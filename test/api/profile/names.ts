import { expect } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { addCluster } from '../../spec/world.ts';
import { type ProfileScene, type RowTests, setupKey, sshRule } from './scene.ts';

/** Returns the tests of rows about members with other names, other values or another type. */
export const names = (scene: ProfileScene): RowTests => {
  const { api, ours, theirs } = scene;
  return {
    async 'the check of client versions'() {
      const made = await theirs('POST', '/api/posture-checks', {
        ...{ name: 'recent clients', description: '' },
        checks: { nb_version_check: { min_version: '1.2.3' } },
      });
      expect(made).toMatchObject({ status: 200, body: { checks: { nb_version_check: { min_version: '1.2.3' } } } });
      expect(made.body.checks).not.toHaveProperty('client_version_check');
      const path = `/api/posture-checks/${made.body.id}`;
      expect((await theirs('GET', path)).body).toEqual(made.body);
      expect((await theirs('PUT', path, made.body)).body).toEqual(made.body);
      const specified = await ours('GET', path);
      expect(specified.body.checks).toEqual({ client_version_check: { min_version: '1.2.3' } });
      expect((await theirs('PUT', path, specified.body)).body).toEqual(made.body);
    },

    async 'the reputation of clusters'() {
      await addCluster(api(), 'rows.example.com', { supports_custom_ports: true, supports_reputation: true });
      const find = (list: readonly { readonly address: string }[]) =>
        list.find(({ address }) => address === 'rows.example.com');
      const cluster = find((await theirs('GET', '/api/reverse-proxies/clusters')).body);
      expect(cluster).toMatchObject({ supports_crowdsec: true });
      expect(cluster).not.toHaveProperty('supports_reputation');
      const specified = find((await ours('GET', '/api/reverse-proxies/clusters')).body);
      expect(specified).toMatchObject({ supports_reputation: true });
      const body = { domain: 'rows.example.org', target_cluster: 'rows.example.com' };
      const made = await theirs('POST', '/api/reverse-proxies/domains', body);
      const listed: readonly JsonObject[] = (await theirs('GET', '/api/reverse-proxies/domains')).body;
      const shown = listed.filter(({ target_cluster }) => target_cluster === 'rows.example.com');
      expect(shown.map(({ type }) => type)).toEqual(['custom', 'free']);
      for (const one of [made.body, ...shown]) {
        expect(one).toHaveProperty('supports_crowdsec', true);
        expect(one).not.toHaveProperty('supports_reputation');
      }
      expect((await ours('GET', '/api/reverse-proxies/domains')).body[0]).toMatchObject({ supports_reputation: true });
    },

    async 'the reputation mode of services'() {
      const [peer = ''] = await api().peers('shop');
      await addCluster(api(), 'mode.example.com', { supports_custom_ports: true, supports_reputation: true });
      const made = await theirs('POST', '/api/reverse-proxies/services', {
        name: 'shop',
        domain: 'shop.mode.example.com',
        targets: [{ target_id: peer, target_type: 'peer', protocol: 'http', port: 8080, enabled: true }],
        enabled: true,
        access_restrictions: { crowdsec_mode: 'observe' },
      });
      expect(made.body.access_restrictions).toEqual({ crowdsec_mode: 'observe' });
      const path = `/api/reverse-proxies/services/${made.body.id}`;
      expect((await theirs('PUT', path, made.body)).body).toEqual(made.body);
      expect((await ours('GET', path)).body.access_restrictions).toEqual({ reputation_mode: 'observe' });
    },

    'the quantum-safe flag of peers': () => expectFlag(scene, 'rosenpass_enabled', 'quantum_safe_enabled'),
    'the permissive quantum-safe flag of peers': () =>
      expectFlag(scene, 'rosenpass_permissive', 'quantum_safe_permissive'),

    async 'SSH in the rules of policies'() {
      const group = await api().group('admins');
      const rule = { ...sshRule(group), protocol: 'netbird-ssh' };
      const made = await theirs('POST', '/api/policies', { name: 'ssh', enabled: true, rules: [rule] });
      expect(made.body.rules[0].protocol).toBe('netbird-ssh');
      const path = `/api/policies/${made.body.id}`;
      expect((await theirs('PUT', path, made.body)).body).toEqual(made.body);
      expect((await ours('GET', path)).body.rules[0].protocol).toBe('ssh');
      const specified = await theirs('PUT', path, {
        ...made.body,
        rules: [{ ...made.body.rules[0], protocol: 'ssh' }],
      });
      expect(specified.body.rules[0].protocol).toBe('netbird-ssh');
    },

    async 'SSH in temporary access'() {
      const [peer = ''] = await api().peers('server');
      const made = await theirs('POST', `/api/peers/${peer}/temporary-access`, {
        name: 'browser',
        wg_pub_key: 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=',
        rules: ['netbird-ssh/22', 'tcp/443'],
      });
      expect(made).toMatchObject({ status: 200, body: { rules: ['netbird-ssh/22', 'tcp/443'] } });
    },

    async 'the ids of setup keys'() {
      const made = await theirs('POST', '/api/setup-keys', setupKey);
      expect(made.body.id).toMatch(/^\d+$/);
      const path = `/api/setup-keys/${made.body.id}`;
      expect((await theirs('GET', path)).body.id).toBe(made.body.id);
      expect((await theirs('GET', '/api/setup-keys')).body).toContainEqual(
        expect.objectContaining({ id: made.body.id, name: setupKey.name }),
      );
      expect((await ours('GET', path)).body.id).toBe(Number(made.body.id));
    },

    async 'the ids of audit events'() {
      for (const path of ['/api/events', '/api/events/audit']) {
        await api().group(`group of ${path}`);
        const [newest] = (await theirs('GET', path)).body;
        expect(newest.id).toMatch(/^\d+$/);
        expect((await ours('GET', path)).body[0].id).toBe(Number(newest.id));
      }
    },
  };
};

/** Adds a peer and checks one of its flags in both profiles. */
async function expectFlag({ api, ours, theirs }: ProfileScene, their: string, our: string): Promise<void> {
  const [peer = ''] = await api().peers(their.replace('_', '-'));
  const path = `/api/peers/${peer}`;
  const [seen, specified] = [(await theirs('GET', path)).body, (await ours('GET', path)).body];
  expect(seen.local_flags).toHaveProperty(their, specified.local_flags[our]);
  expect(seen.local_flags).not.toHaveProperty(our);
  const listed = (await theirs('GET', '/api/peers')).body.find(({ id }: { readonly id: string }) => id === peer);
  expect(listed.local_flags).toEqual(seen.local_flags);
}
