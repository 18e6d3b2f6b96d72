import { beforeAll, describe, expect, it } from 'vitest';
import { storeRequests, storeTraffic } from '../logs/filled.ts';
import { createWorld } from '../spec/world.ts';
import { sharedApi } from './setup.ts';

const path = '/api/events/proxy';
const traffic = '/api/events/network-traffic';
const now = Date.now();
const span = { now, keptMs: 30 * 86_400_000 };
const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString();

const api = sharedApi({ edition: 'hosted' });
let ana = '';

beforeAll(async () => {
  const { engine, account, call } = api();
  ana = (
    await call('POST', '/api/users', { name: 'Ana Lima', role: 'auditor', auto_groups: [], is_service_user: true })
  ).body.id;
  const requests = Array.from({ length: 150 }, (_, minutes) => ({
    ...{ timestamp: at(minutes), id: `r${minutes}`, service_id: 's', method: 'GET', host: 'app.example.com' },
    ...{ path: `/p/${minutes}`, duration_ms: minutes, status_code: minutes % 2 === 0 ? 200 : 502 },
    user_id: minutes % 10 === 0 ? ana : '',
  }));
  await storeRequests(engine.database, account, 'b', requests, span);
  await storeRequests(engine.database, 'another', 'b', requests, span);
});

describe('GET /api/events/proxy', () => {
  const read = async (query: string) => (await api().call('GET', `${path}${query}`)).body;

  it('returns pages of 50, newest first, in an envelope', async () => {
    const body = await read('');
    expect([body.page, body.page_size, body.total_records, body.total_pages]).toEqual([1, 50, 150, 3]);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(Array.from({ length: 50 }, (_, n) => `r${n}`));
    expect((await read('?page=4')).data).toEqual([]);
    expect((await read('?page=1000000000')).data).toEqual([]);
  });

  it('limits the page size to 100, and rounds the number of pages up', async () => {
    const body = await read('?page_size=5000');
    expect([body.page_size, body.data.length, body.total_pages]).toEqual([100, 100, 2]);
  });

  it('includes both ends of a time range', async () => {
    const body = await read(`?start_date=${at(5)}&end_date=${at(3)}&sort_order=asc`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['r5', 'r4', 'r3']);
  });

  it('finds requests of users by parts of their names, and none when no user matches', async () => {
    expect((await read('?user_name=ana%20l')).total_records).toBe(15);
    expect((await read(`?user_id=${ana}&status=failed`)).total_records).toBe(0);
    expect((await read('?search=LIMA')).total_records).toBe(15);
    expect(await read('?user_email=nobody')).toEqual({
      ...{ data: [], page: 1, page_size: 50, total_records: 0, total_pages: 0 },
    });
  });

  it.each([
    'page=0',
    'page=x',
    'page=-1',
    'page=1e3',
    'page_size=0',
    'page_size=1.5',
    'sort_by=size',
    'sort_order=up',
    'status=ok',
    'status_code=abc',
    'status_code=1000',
    'start_date=yesterday',
    'end_date=2026-13-01T00:00:00Z',
    'host=a%00b',
    'search=%ED%A0%80&page=0',
    'host=a&host=b',
    `path=${'x'.repeat(1001)}`,
  ])('refuses ?%s with 422, naming it', async (query) => {
    const { status, body } = await api().call('GET', `${path}?${query}`);
    expect([status, body.problems.length]).toEqual([422, 1]);
  });

  it('reports every problem at once', async () => {
    const { body } = await api().call('GET', `${path}?page=0&sort_by=x&status=y`);
    expect(body.problems.map(({ path }: { path: string }) => path).sort()).toEqual(['/page', '/sort_by', '/status']);
  });

  it('requires credentials, and returns no requests of another account', async () => {
    const world = createWorld(api(), 'hosted', new Map());
    const { account, call } = api();
    const make = async (role: string) =>
      (await call('POST', '/api/users', { name: role, role, auto_groups: [], is_service_user: true })).body.id;
    const headers = await world.headersOf(account, ana);
    expect((await call('GET', path, undefined, headers)).status).toBe(200);
    const service = await world.headersOf(account, await make('user'));
    expect((await call('GET', path, undefined, service)).status).toBe(200);
    expect((await call('GET', path, undefined, { authorization: '' })).status).toBe(401);
    expect((await read('')).total_records).toBe(150);
  });
});

describe('GET /api/events/network-traffic', () => {
  const person = { id: 'u1', email: 'ana@example.com', name: 'Ana' };
  const flow = (n: number, more = {}) => ({
    ...{ flow_id: `f${n}`, window_start: at(n + 1), window_end: at(n), protocol: n % 2 === 0 ? 6 : 17 },
    ...{ direction: n % 3 === 0 ? 'INGRESS' : 'EGRESS', connection_type: n < 10 ? 'ROUTED' : 'P2P' },
    ...{ source_ip: '100.64.0.1', source_port: 1000 + n, destination_ip: `203.0.113.${n}`, destination_port: 443 },
    ...{ rx_bytes: 10, tx_bytes: 20, rx_packets: 1, tx_packets: 2 },
    events: [
      { type: 'TYPE_START', timestamp: at(n + 1) },
      { type: n === 7 ? 'TYPE_DROP' : 'TYPE_END', timestamp: at(n) },
    ],
    ...more,
  });
  const laptop = {
    ...{ id: 'p1', type: 'PEER', name: 'Laptop', os: 'linux', dns_label: 'laptop.mesh', user: person },
    geo_location: { city_name: 'Bern', country_code: 'CH' },
  };
  beforeAll(async () => {
    const { engine, account } = api();
    const around = { peerAt: (ip: string) => (ip === '100.64.0.1' ? laptop : undefined) };
    const flows = Array.from({ length: 40 }, (_, n) => flow(n));
    await storeTraffic(engine.database, account, 'b', flows, around, span);
  });
  const find = async (query: string) => (await api().call('GET', `${traffic}?${query}`)).body;

  it('returns a flow with the known facts about its ends', async () => {
    const { data } = await find('type=TYPE_DROP');
    expect(data).toEqual([
      {
        ...{ flow_id: 'f7', reporter_id: 'reporter', protocol: 17, direction: 'EGRESS' },
        source: {
          ...{ id: 'p1', type: 'PEER', name: 'Laptop', os: 'linux', dns_label: 'laptop.mesh' },
          ...{ geo_location: { city_name: 'Bern', country_code: 'CH' }, address: '100.64.0.1:1007' },
        },
        destination: {
          ...{ id: '', type: 'UNKNOWN', name: '', os: '', dns_label: '', address: '203.0.113.7:443' },
          geo_location: { city_name: '', country_code: '' },
        },
        ...{ user: person, policy: { id: '', name: '' }, icmp: { type: 0, code: 0 } },
        ...{ rx_bytes: 10, rx_packets: 1, tx_bytes: 20, tx_packets: 2 },
        ...{ num_of_starts: 1, num_of_ends: 0, num_of_drops: 1, window_start: at(8), window_end: at(7) },
        events: [
          { type: 'TYPE_START', timestamp: at(8) },
          { type: 'TYPE_DROP', timestamp: at(7) },
        ],
      },
    ]);
  });

  it.each<[string, number]>([
    ['', 40],
    ['protocol=17', 20],
    ['direction=INGRESS', 14],
    ['connection_type=ROUTED', 10],
    ['type=TYPE_START', 40],
    ['type=TYPE_END&protocol=6', 20],
    ['type=TYPE_UNKNOWN', 0],
    ['source_id=p1', 40],
    ['destination_id=p1', 0],
    ['reporter_id=reporter&direction=EGRESS', 26],
    ['user_id=u1', 40],
    ['user_id=u2', 0],
    ['search=LAPTOP', 40],
    ['search=203.0.113.1', 11],
    ['search=203.0.113.17:443', 1],
    ['search=203.0.113.17:80', 0],
    [`start_date=${at(9)}&end_date=${at(5)}`, 5],
  ])('finds the matching flows by ?%s', async (query, count) => {
    const body = await find(query);
    expect([body.total_records, body.data.length, body.page_size]).toEqual([count, count, 1000]);
  });

  it.each(['protocol=256', 'type=START', 'direction=IN', 'connection_type=x', 'page=0', 'start_date=x'])(
    'refuses ?%s with 422',
    async (query) => {
      expect((await api().call('GET', `${traffic}?${query}`)).status).toBe(422);
    },
  );

  it('limits the page size to 50,000', async () => {
    expect((await find('page_size=60000')).page_size).toBe(50_000);
  });
});
