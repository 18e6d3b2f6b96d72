import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { type Answer, sharedApi, type TestApi, testApi } from '../api/setup.ts';
import { newMachine, setupKey } from './machine.ts';

const api = sharedApi({ edition: 'hosted' });
const now = Date.now();
const at = (ms: number) => new Date(now + ms).toISOString();

/** Enrols a peer that reports traffic. */
async function newPeer(on: TestApi) {
  const key = await setupKey(on);
  const machine = newMachine(on);
  const { peer, session } = (await machine.enrol({ setup_key: key['key'] ?? '', hostname: 'laptop' })).body;
  const headers = { authorization: `Peer ${session.token}` };
  const flow = { flow_id: 'f', window_start: at(-2000), window_end: at(-1000), protocol: 6, direction: 'EGRESS' };
  const ends = { source_ip: peer.ip, source_port: 4000, destination_ip: '192.0.2.9', destination_port: 443 };
  const counters = { rx_bytes: 10, tx_bytes: 20, rx_packets: 1, tx_packets: 2 };
  const record = { ...flow, ...ends, ...counters, events: [{ type: 'TYPE_START', timestamp: at(-2000) }] };
  const report = (batch: string, records: readonly JsonObject[] = [record]): Promise<Answer> =>
    machine.send('/agent/traffic', { batch, records }, headers);
  return { peer, record, report };
}

async function setTraffic({ call }: TestApi, change: JsonObject): Promise<void> {
  const [{ id, settings }] = (await call('GET', '/api/accounts')).body;
  const extra = { ...settings.extra, ...change };
  expect((await call('PUT', `/api/accounts/${id}`, { settings: { ...settings, extra } })).status).toBe(200);
}

const read = async (of: string) => (await api().call('GET', `/api/events/network-traffic?reporter_id=${of}`)).body;

it('traffic is stored only if the account enables it, for its groups only, and with counters if they are on', async () => {
  const { peer, report } = await newPeer(api());
  expect((await report('off')).body).toMatchObject({ refused: [], dropped: expect.stringContaining('off') });
  const group = await api().group('logged');
  await setTraffic(api(), { network_traffic_logs_enabled: true, network_traffic_logs_groups: [group] });
  expect((await report('outside')).body.dropped).toContain('groups');
  await api().call('PUT', `/api/groups/${group}`, { name: 'logged', peers: [peer.id] });
  expect((await report('plain')).body).toEqual({ refused: [] });
  const [plain] = (await read(peer.id)).data;
  expect(plain).toMatchObject({
    ...{ reporter_id: peer.id, rx_bytes: 0, tx_packets: 0, num_of_starts: 1 },
    source: {
      id: peer.id,
      type: 'PEER',
      name: 'laptop',
      dns_label: 'laptop.heddle.internal',
      address: `${peer.ip}:4000`,
    },
    destination: { id: '', type: 'UNKNOWN', address: '192.0.2.9:443' },
  });
  await setTraffic(api(), { network_traffic_packet_counter_enabled: true, network_traffic_logs_groups: [] });
  const { record } = await newPeer(api());
  const counted = { ...record, flow_id: 'g', window_end: at(0), source_ip: peer.ipv6.toUpperCase() };
  expect((await report('counted', [counted])).body).toEqual({ refused: [] });
  expect((await report('counted', [counted])).body).toEqual({ refused: [] });
  const { data, total_records } = await read(peer.id);
  const source = { id: peer.id, address: `[${peer.ipv6}]:4000` };
  expect([total_records, data[0]]).toMatchObject([2, { flow_id: 'g', rx_bytes: 10, tx_packets: 2, source }]);
});

it('a faulty traffic record is reported and does not prevent the others from being stored', async () => {
  await setTraffic(api(), { network_traffic_logs_enabled: true, network_traffic_logs_groups: [] });
  const { peer, record, report } = await newPeer(api());
  const answer = await report('mixed', [
    record,
    { ...record, window_end: at(-40 * 86_400_000) },
    { ...record, window_end: at(3_600_000) },
    { ...record, source_ip: 'here' },
    { ...record, events: [] },
    { ...record, events: [{ type: 'START', timestamp: at(0) }] },
    { ...record, protocol: 256 },
    {},
  ]);
  expect(answer.body.refused.map(({ index }: { index: number }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect((await read(peer.id)).total_records).toBe(1);
  expect(
    (
      await report(
        'many',
        Array.from({ length: 2001 }, () => record),
      )
    ).status,
  ).toBe(422);
});

it('a self-hosted server accepts traffic reports and stores none', async () => {
  await using own = await testApi();
  await setTraffic(own, { network_traffic_logs_enabled: true });
  const { report } = await newPeer(own);
  expect((await report('b')).body.dropped).toContain('hosted edition');
});
