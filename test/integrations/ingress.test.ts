import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from '../api/documents.ts';
import { openMesh } from './ingress-scene.ts';

type Mesh = Awaited<ReturnType<typeof openMesh>>;

const mapping = { translated_start: 8443, translated_end: 8443, protocol: 'tcp' };
const at = (port: number) => ({ ...mapping, ingress_start: port, ingress_end: port });

/** Returns what the map of `web`, the peer with the ports, allows inbound: protocol, ports and peers. */
function letIn(mesh: Mesh): readonly (readonly [string, unknown, unknown])[] {
  const map = mesh.map('web');
  const sets = new Map(map?.sets.map((set) => [set.id, set.peers]));
  return (map?.inbound ?? []).map(({ protocol, ports, set }) => [protocol, ports, sets.get(set)]);
}

const forwarded = (mesh: Mesh, label: 'edge' | 'spare') => mesh.map(label)?.forwards ?? [];

/**
 * Opens a mesh in which the ingress peer `edge` forwards to the web server, and `spare` may take over. All peers are
 * connected.
 */
async function served(): Promise<Mesh & { readonly port: string }> {
  const mesh = await openMesh();
  await mesh.ingressPeer('edge');
  const port = await mesh.ingressPort('web', 'https');
  await mesh.ingressPeer('spare');
  await mesh.join('web');
  await mesh.join('edge', '198.51.100.7');
  await mesh.join('spare', '198.51.100.8');
  await mesh.join('laptop');
  await expect.poll(() => [forwarded(mesh, 'edge').length, mesh.map('web')?.inbound.length]).toEqual([1, 1]);
  return { ...mesh, port };
}

describe('an ingress port', () => {
  it('created by the API is sent to both machines, with the forwarding and the rule that allows it', async () => {
    const mesh = await served();
    expect(forwarded(mesh, 'edge')).toEqual([
      { id: mesh.port, name: 'https', gateway: mesh.ids.edge, peer: mesh.ids.web, mappings: [at(20000)] },
    ]);
    expect(mesh.map('web')?.forwards).toEqual(forwarded(mesh, 'edge'));
    expect(mesh.map('edge')?.peers.map(({ id }) => id)).toEqual([mesh.ids.web]);
    expect(mesh.map('edge')?.outbound).toEqual([
      expect.objectContaining({ id: `${mesh.port}/tcp`, policy: { id: mesh.port, name: 'https' }, action: 'accept' }),
    ]);
    expect(letIn(mesh)).toEqual([['tcp', [{ start: 8443, end: 8443 }], [mesh.ids.edge]]]);
    expect([mesh.map('laptop')?.forwards, mesh.map('laptop')?.peers]).toEqual([[], []]);
    expect(await mesh.portOf('web', mesh.port)).toMatchObject({
      ingress_ip: '198.51.100.7',
      port_range_mappings: [at(20000)],
    });
    const accessible = await mesh.call('GET', `/api/peers/${mesh.ids.edge}/accessible-peers`);
    expect(accessible.body.map(({ id }: JsonObject) => id)).toEqual([mesh.ids.web]);
  });

  it('declared by documents is sent to both machines, and removed with the documents', async () => {
    const mesh = await openMesh();
    for (const label of ['web', 'edge'] as const) await mesh.join(label);
    const texts = [
      doc('IngressPeer', 'gate', 'peer_id: edge\nfallback: true'),
      doc('IngressPort', 'https', 'peer: web\nname: https\nport_ranges: [{start: 443, end: 444, protocol: tcp/udp}]'),
    ];
    const apply = (text: string) =>
      mesh.call('POST', '/api/config/apply', { source: 'net', files: [{ path: 'net.yaml', text }] });
    const plan = async (text: string) => {
      const files = [{ path: 'net.yaml', text }];
      return (await mesh.call('POST', '/api/config/plans', { source: 'net', files })).body.access;
    };
    const peer = (key: string) => ({ kind: 'Peer', key, name: `Peer ${key}` });
    const pair = { from: peer('edge'), to: peer('web'), traffic: 'tcp/443-444, udp/443-444', pairs: 1, conditional: 0 };
    const [some, none] = [
      { pairs: 1, conditional: 0 },
      { pairs: 0, conditional: 0 },
    ];
    const gained = { gained: some, lost: none, groups: [{ change: 'gained', ...pair }], omitted: 0 };
    expect(await plan(texts.join('---\n'))).toEqual(gained);
    expect((await apply(texts.join('---\n'))).status).toBe(200);
    const lost = { gained: none, lost: some, groups: [{ change: 'lost', ...pair }], omitted: 0 };
    expect(await plan(texts[0] ?? '')).toEqual(lost);
    // There is one forwarded entry, although two rules allow the traffic.
    await expect
      .poll(() => [letIn(mesh), forwarded(mesh, 'edge')])
      .toEqual([
        [
          ['tcp', [{ start: 443, end: 444 }], [mesh.ids.edge]],
          ['udp', [{ start: 443, end: 444 }], [mesh.ids.edge]],
        ],
        [expect.objectContaining({ name: 'https', peer: mesh.ids.web })],
      ]);
    expect((await apply(texts[0] ?? '')).status).toBe(200);
    await expect.poll(() => [letIn(mesh), forwarded(mesh, 'edge'), mesh.map('edge')?.peers]).toEqual([[], [], []]);
  });

  it('is removed from all maps while it is disabled, and other peers are not notified', async () => {
    const mesh = await served();
    const before = [mesh.events('laptop'), mesh.events('spare')];
    const path = `/api/peers/${mesh.ids.web}/ingress/ports/${mesh.port}`;
    const body = { name: 'https', port_ranges: [{ start: 8443, end: 8443, protocol: 'tcp' }] };
    await mesh.call('PUT', path, { ...body, enabled: false });
    await expect.poll(() => [letIn(mesh), forwarded(mesh, 'edge'), mesh.map('edge')?.peers]).toEqual([[], [], []]);
    const asked = await mesh.call('GET', '/api/config/access?from=edge&to=web&port=tcp/8443');
    expect(asked.body.message).toContain('ingress port `https` would, but the ingress port is disabled');
    await mesh.call('PUT', path, { ...body, enabled: true });
    await expect.poll(() => [letIn(mesh).length, forwarded(mesh, 'edge').length]).toEqual([1, 1]);
    await mesh.call('DELETE', path);
    await expect.poll(() => [letIn(mesh), forwarded(mesh, 'edge'), mesh.map('edge')?.peers]).toEqual([[], [], []]);
    expect([mesh.events('laptop'), mesh.events('spare')]).toEqual(before);
  });

  it('allows its own traffic and nothing else, and a drop rule takes precedence', async () => {
    const mesh = await served();
    const explain = async (port: string) =>
      (await mesh.call('GET', `/api/config/access?from=edge&to=web&port=${port}`)).body;
    expect(await explain('tcp/8443')).toMatchObject({
      verdict: 'allow',
      message: '`Peer edge` may open tcp/8443 to `Peer web`: ingress port `https` lets tcp/8443 through',
      rules: [
        {
          ingressPort: { id: mesh.port, name: 'https', declared: [] },
          message: 'lets tcp/8443 through: `Peer edge` forwards it to `Peer web`',
        },
      ],
    });
    expect((await explain('udp/8443')).verdict).toBe('deny');
    const rule = { name: 'no', enabled: true, action: 'drop', protocol: 'all', bidirectional: false };
    const ends = {
      sourceResource: { id: mesh.ids.edge, type: 'peer' },
      destinationResource: { id: mesh.ids.web, type: 'peer' },
    };
    await mesh.call('POST', '/api/policies', { name: 'No', enabled: true, rules: [{ ...rule, ...ends }] });
    expect((await explain('tcp/8443')).verdict).toBe('deny');
    await expect.poll(() => mesh.map('edge')?.peers).toEqual([]);
  });
});

describe('an offline ingress peer', () => {
  it('is replaced by another one after 30 seconds, until it is back for good', async () => {
    const mesh = await served();
    const first = await mesh.revision();
    await mesh.leave('edge');
    await mesh.wait('edge', 25);
    await expect.poll(() => mesh.decidedElsewhere()).toEqual(['edge -> web']);
    expect(forwarded(mesh, 'spare')).toEqual([]);
    const amiss = async () => (await mesh.call('GET', '/api/config/status')).body.ingress;
    expect(await amiss()).toBeUndefined();
    await mesh.wait('edge', 10);
    const message = 'the peer Peer edge is offline; its port is forwarded by Peer spare';
    expect(await amiss()).toEqual([expect.objectContaining({ message })]);
    await expect.poll(() => forwarded(mesh, 'spare')).toEqual([expect.objectContaining({ mappings: [at(20000)] })]);
    await expect.poll(() => letIn(mesh)).toEqual([['tcp', [{ start: 8443, end: 8443 }], [mesh.ids.spare]]]);
    expect(await mesh.decidedElsewhere()).toEqual(['spare -> web']);
    expect(await mesh.portOf('web', mesh.port)).toMatchObject({ ingress_ip: '198.51.100.8' });
    const asked = await mesh.call('GET', '/api/config/access?from=spare&to=web&port=tcp/8443');
    expect(asked.body.rules).toMatchObject([
      {
        ingressPort: { standsInFor: { id: mesh.ids.edge } },
        message: 'lets tcp/8443 through: `Peer spare` forwards it to `Peer web` while `Peer edge` is offline',
      },
    ]);
    // An ingress peer that is back only for a moment changes nothing.
    await mesh.join('edge', '198.51.100.7');
    expect([await mesh.decidedElsewhere(), forwarded(mesh, 'edge')]).toEqual([['spare -> web'], []]);
    await mesh.wait('edge', 20);
    await expect.poll(() => [forwarded(mesh, 'edge').length, forwarded(mesh, 'spare')]).toEqual([1, []]);
    await expect.poll(() => letIn(mesh)).toEqual([['tcp', [{ start: 8443, end: 8443 }], [mesh.ids.edge]]]);
    expect(await amiss()).toBeUndefined();
    // The server observed the takeover without writing a revision.
    expect(await mesh.revision()).toBe(first);
  });

  it('causes one audit event when it goes offline, and one when it is back', async () => {
    const mesh = await served();
    const events = async () => {
      await Promise.all([mesh.keep(), mesh.keep()]);
      const { body } = await mesh.call('GET', '/api/events/audit');
      return body
        .filter(({ activity_code: code }: JsonObject) => /^ingress.peer.(on|off)line$/.test(String(code)))
        .map(({ activity_code: code, meta }: JsonObject) => [code, meta]);
    };
    await mesh.leave('edge');
    await mesh.wait('edge', 25);
    expect(await events()).toEqual([]);
    await mesh.wait('edge', 10);
    const meta = { peer_id: mesh.ids.edge, peer_name: 'Peer edge', ports: '1' };
    const gone = ['ingress.peer.offline', { ...meta, taken_over: '1' }];
    expect(await events()).toEqual([gone]);
    await mesh.join('edge');
    expect(await events()).toEqual([gone]);
    await mesh.wait('edge', 20);
    const back = ['ingress.peer.online', { ...meta, taken_over: '0' }];
    expect([await events(), await events()]).toEqual([
      [back, gone],
      [back, gone],
    ]);
  });

  it('stays replaced when a server dies, and peers of a dead server are offline after half a minute', async () => {
    const mesh = await served();
    await mesh.leave('edge');
    await mesh.wait('edge', 31);
    await expect.poll(() => forwarded(mesh, 'spare').length).toBe(1);
    await mesh.kill();
    for (const label of ['web', 'spare'] as const) await mesh.join(label, '198.51.100.8');
    await expect.poll(() => forwarded(mesh, 'spare').length).toBe(1);
    await expect.poll(() => letIn(mesh)).toEqual([['tcp', [{ start: 8443, end: 8443 }], [mesh.ids.spare]]]);
    expect([mesh.events('spare'), mesh.events('web')]).toEqual([1, 1]);
    await mesh.join('edge', '198.51.100.7');
    await mesh.wait('edge', 20);
    await expect.poll(() => [forwarded(mesh, 'edge').length, forwarded(mesh, 'spare')]).toEqual([1, []]);
    await mesh.kill();
    for (const label of ['web', 'spare'] as const) await mesh.join(label, '198.51.100.8');
    // The lease of the dead server has expired, but its machines have another 30 seconds to reconnect.
    await mesh.keep();
    await expect.poll(() => mesh.events('spare')).toBe(1);
    expect([forwarded(mesh, 'spare'), await mesh.decidedElsewhere()]).toEqual([[], ['edge -> web']]);
    await mesh.wait('edge', 31);
    await expect.poll(() => forwarded(mesh, 'spare').length).toBe(1);
  });

  it('changes no maps while Postgres is stopped, and is replaced afterwards', async () => {
    const mesh = await served();
    const seen = [mesh.events('web'), mesh.events('spare')];
    let left = Promise.resolve();
    await mesh.withoutPostgres(async () => {
      left = mesh.leave('edge');
      expect((await mesh.call('GET', '/api/ingress/peers')).status).toBe(503);
      expect([mesh.events('web'), mesh.events('spare')]).toEqual(seen);
      expect([letIn(mesh).length, mesh.map('web')?.forwards.length]).toEqual([1, 1]);
    });
    await left;
    await mesh.wait('edge', 31);
    await expect.poll(() => forwarded(mesh, 'spare').length).toBe(1);
    await expect.poll(() => letIn(mesh)).toEqual([['tcp', [{ start: 8443, end: 8443 }], [mesh.ids.spare]]]);
  });

  it('is replaced with the same port numbers if free, with others if taken, and not where there is no room', async () => {
    const mesh = await openMesh();
    const spare = async (enabled: boolean) => {
      const fields = `peer_id: spare\nenabled: ${enabled}\nfallback: true\ntcp_pool: {start: 20000, end: 20002}`;
      const files = [{ path: 'net.yaml', text: doc('IngressPeer', 'spare', fields) }];
      expect((await mesh.call('POST', '/api/config/apply', { source: 'net', files })).status).toBe(200);
    };
    await spare(true);
    await mesh.ingressPort('laptop', 'taken');
    await spare(false);
    await mesh.ingressPeer('edge');
    const [moved, direct, left] = [
      await mesh.ingressPort('web', 'moved'),
      await mesh.ingressPort('web', 'direct', { port_ranges: [], direct_port: { count: 1, protocol: 'tcp' } }),
      await mesh.ingressPort('web', 'left', { port_ranges: [{ start: 9000, end: 9001, protocol: 'tcp' }] }),
    ];
    await spare(true);
    for (const label of ['web', 'edge', 'spare', 'laptop'] as const) await mesh.join(label);
    await expect.poll(() => [forwarded(mesh, 'edge').length, forwarded(mesh, 'spare').length]).toEqual([3, 1]);
    await mesh.leave('edge');
    await mesh.wait('edge', 31);
    await expect.poll(() => forwarded(mesh, 'spare').length).toBe(3);
    expect((await mesh.portOf('web', moved)).port_range_mappings).toEqual([at(20002)]);
    const same = { translated_start: 20001, translated_end: 20001, ingress_start: 20001, ingress_end: 20001 };
    expect((await mesh.portOf('web', direct)).port_range_mappings).toEqual([{ ...same, protocol: 'tcp' }]);
    expect(await mesh.decidedElsewhere()).toEqual(['edge -> web', 'spare -> laptop', 'spare -> web', 'spare -> web']);
    expect((await mesh.portOf('web', left)).port_range_mappings).toMatchObject([{ ingress_start: 20002 }]);
  });
});
