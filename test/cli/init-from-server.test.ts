import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createScene, inTheirOrder, isCreation } from '../api/example-scene.ts';
import type { TestApi } from '../api/setup.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';

const txt = new Map<string, readonly string[]>();
const server = sharedServer({ edition: 'hosted', resolveTxt: async (name) => txt.get(name) ?? [] });

/** Creates objects through the API that are valid only because of a name, a type or an ability of another object. */
async function addSpecialCases({ call, group }: TestApi, peer: string): Promise<void> {
  const create = async (path: string, body: Readonly<Record<string, unknown>>): Promise<string> => {
    const answer = await call('POST', path, JSON.parse(JSON.stringify(body)));
    expect([path, answer.status, answer.body.message]).toEqual([path, 200, undefined]);
    return answer.body.id;
  };
  const staff = await group('Special staff');
  const network = await create('/api/networks', { name: 'Head Office' });
  const resources = `/api/networks/${network}/resources`;
  const resource = (name: string, address: string) =>
    create(resources, { name, address, enabled: true, groups: [staff] });
  const [lab, host, site] = [
    await resource('Lab: 2nd floor', '10.66.0.0/24'),
    await resource('printer', '10.67.0.1'),
    await resource('wiki', 'wiki.example.com'),
  ];
  const service = (name: string, target: object, rest: object = {}) => ({
    ...{ name, domain: `${name}.proxy.example.com`, enabled: true, ...rest },
    targets: [{ protocol: 'http', port: 80, enabled: true, ...target }],
  });
  const services = '/api/reverse-proxies/services';
  await create(services, service('subnet', { target_id: lab, target_type: 'subnet', host: '10.66.0.9' }));
  await create(services, service('host', { target_id: host, target_type: 'host' }));
  await create(services, service('domain', { target_id: site, target_type: 'domain' }));
  await create(
    services,
    service('tcp', { target_id: peer, target_type: 'peer', protocol: 'tcp' }, { mode: 'tcp', listen_port: 15_432 }),
  );
  await create(services, {
    ...service('checked', { target_id: peer, target_type: 'peer' }),
    access_restrictions: { reputation_mode: 'observe' },
    auth: {
      password_auth: { enabled: true, password: 'correct horse battery' },
      header_auths: [{ enabled: true, header: 'X-Key', value: 'correct horse battery' }],
    },
  });
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all', sources: [staff] };
  await create('/api/policies', {
    ...{ name: 'To the lab', enabled: true },
    rules: [{ ...rule, destinationResource: { id: lab, type: 'subnet' } }],
  });
  const dns = await call('PUT', '/api/dns/settings', { disabled_management_groups: [staff] });
  expect(dns.status).toBe(200);
  await create('/api/groups', { name: 'null' });
  await create('/api/groups', { name: '# 1: "x"' });
}

beforeAll(async () => {
  const { api } = server();
  const scene = await createScene(api, 'hosted', txt);
  const creations = scene.operations.filter((of) => isCreation(of, scene.operations));
  const faults: string[] = [];
  await inTheirOrder(scene, creations, async (of) => faults.push(...(await scene.attempt(of))));
  expect(faults).toEqual([]);
  const [peer = ''] = await api.peers('special');
  await addSpecialCases(api, peer);
}, 60_000);

/** Writes the account of the server as documents; returns their directory and text. */
async function initFromServer() {
  const directory = join(await temporaryDirectory(), 'mesh');
  const { code, note } = await server().heddle(['init', directory, '--from-server']);
  expect([code, note]).toEqual([0, '']);
  return { directory, text: await readFile(join(directory, 'account.yaml'), 'utf8') };
}

describe('heddle init --from-server, on an account filled by API with objects of every kind', () => {
  it('writes a document of every kind that documents can state', async () => {
    const { text } = await initFromServer();
    const { kinds } = server().api.engine.registry;
    const stated = new Set([...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind));
    const missing = kinds.filter(
      ({ name, path, document, parent }) =>
        path !== undefined && document.allowed && parent?.inline === undefined && !stated.has(name),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
    expect(text).toMatch(/^ {2}resources:$/m);
    expect(text).toMatch(/^ {2}routers:$/m);
    expect(text).toMatch(/^ {2}records:$/m);
    expect(text).toContain('stored: true');
    expect(text).toContain('target_id: "head-office/Lab: 2nd floor"');
  });

  it('writes documents that are valid without a server, without a warning', async () => {
    const { directory } = await initFromServer();
    const { code, out } = await server().heddle(['validate', directory]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d+ documents in 1 file are valid\.[^\n]*\n$/)]);
  });

  it('writes canonical documents', async () => {
    const { directory } = await initFromServer();
    expect(await server().heddle(['fmt', '--check', '--diff', directory])).toMatchObject({ code: 0, out: '' });
  });

  it('writes documents that plan no changes', async () => {
    const { directory } = await initFromServer();
    const { code, out } = await server().heddle(['plan', directory, '--detailed-exitcode']);
    expect([code, out]).toEqual([0, expect.stringContaining('No changes')]);
  });

  it('writes the same text again, also after the documents are applied', async () => {
    const { directory, text } = await initFromServer();
    expect((await initFromServer()).text).toBe(text);
    const { code, note } = await server().heddle(['apply', directory, '--auto-approve']);
    expect([code, note]).toEqual([0, '']);
    expect((await initFromServer()).text).toBe(text);
  });
});
