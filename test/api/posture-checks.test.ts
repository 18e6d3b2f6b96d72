import { expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { authority, leaf } from '../setup/certificates.ts';
import { problemsOf } from './problems.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();
const path = '/api/posture-checks';
let count = 0;
/** Returns a valid body with a unique name. */
const body = (checks?: Json, more: JsonObject = {}): JsonObject => {
  count += 1;
  return { name: `Check ${count}`, description: '', ...(checks === undefined ? {} : { checks }), ...more };
};
const post = (value: JsonObject) => api().call('POST', path, value);

const full = {
  client_version_check: { min_version: '1.4.2' },
  os_version_check: {
    android: { min_version: '14' },
    ios: { min_version: '17.4' },
    darwin: { min_version: '14.6' },
    linux: { min_kernel_version: '6.1.0' },
    windows: { min_kernel_version: '10.0.22631' },
  },
  geo_location_check: {
    locations: [{ country_code: 'DE' }, { country_code: 'PT', city_name: 'Lisbon' }],
    action: 'deny',
  },
  peer_network_range_check: { ranges: ['192.0.2.0/24', '2001:db8::/48'], action: 'allow' },
  process_check: {
    processes: [
      { linux_path: '/usr/bin/scanner', windows_path: 'C:\\Program Files\\scanner.exe' },
      { mac_path: '/opt/scanner' },
    ],
  },
  certificate_check: { ca_certificates: [authority] },
};

it('a posture check with all six checks is created, read, listed, replaced and deleted', async () => {
  const made = await post(body(full, { name: 'All six', description: 'why' }));
  const { id } = made.body;
  expect([made.status, made.body]).toEqual([200, { id, name: 'All six', description: 'why', checks: full }]);
  expect((await api().call('GET', `${path}/${id}`)).body).toEqual(made.body);
  expect((await api().call('GET', path)).body).toContainEqual(made.body);
  const one = { client_version_check: { min_version: '2' } };
  const replaced = await api().call('PUT', `${path}/${id}`, body(one, { name: 'One' }));
  expect([replaced.status, replaced.body]).toEqual([200, { id, name: 'One', description: '', checks: one }]);
  expect((await api().call('PUT', `${path}/${id}`, body(undefined, { name: 'One' }))).body.checks).toEqual({});
  const gone = await api().call('DELETE', `${path}/${id}`);
  expect([gone.status, gone.body]).toEqual([200, '']);
  for (const method of ['GET', 'DELETE'])
    expect((await api().call(method, `${path}/${id}`)).body).toEqual({
      code: 404,
      message: `posture check ${id} not found`,
    });
  expect((await api().call('PUT', `${path}/${id}`, body())).status).toBe(404);
});

it('a posture check that is put back unchanged writes nothing', async () => {
  const made = await post(body(full));
  const before = await api().revision();
  const same = await api().call('PUT', `${path}/${made.body.id}`, made.body);
  expect([same.status, same.body]).toEqual([200, made.body]);
  expect(await api().revision()).toBe(before);
});

it.each(['name', 'description'])('a posture check requires %s', async (name) => {
  const left = Object.fromEntries(Object.entries(body()).filter(([other]) => other !== name)) as JsonObject;
  const answer = await post(left);
  expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
});

const geo = (more: JsonObject): JsonObject => ({
  geo_location_check: { locations: [{ country_code: 'DE' }], action: 'allow', ...more },
});
const ranges = (more: JsonObject): JsonObject => ({
  peer_network_range_check: { ranges: ['10.0.0.0/8'], action: 'allow', ...more },
});
const geoAt = '/checks/geo_location_check';
const rangeAt = '/checks/peer_network_range_check';

it.each<[Json, string[]]>([
  ['x', ['type_wrong /checks']],
  [{ geo_check: {} }, ['field_unknown /checks/geo_check']],
  [{ nb_version_check: { min_version: '1' } }, ['field_renamed /checks/nb_version_check']],
  [{ client_version_check: {} }, ['field_required /checks/client_version_check']],
  [{ client_version_check: { min_version: '' } }, ['value_too_short /checks/client_version_check/min_version']],
  [{ client_version_check: { min_version: 'new' } }, ['version_invalid /checks/client_version_check/min_version']],
  [{ client_version_check: { min_version: 1 } }, ['type_wrong /checks/client_version_check/min_version']],
  [
    { client_version_check: { min_version: '1', max_version: '2' } },
    ['field_unknown /checks/client_version_check/max_version'],
  ],
  [
    { os_version_check: { linux: { min_version: '6' } } },
    ['field_required /checks/os_version_check/linux', 'field_unknown /checks/os_version_check/linux/min_version'],
  ],
  [{ os_version_check: { darwin: {} } }, ['field_required /checks/os_version_check/darwin']],
  [{ os_version_check: { bsd: { min_version: '1' } } }, ['field_unknown /checks/os_version_check/bsd']],
  [geo({ locations: [] }), [`list_too_short ${geoAt}/locations`]],
  [geo({ locations: [{ city_name: 'Berlin' }] }), [`field_required ${geoAt}/locations/0`]],
  [geo({ locations: [{ country_code: 'ZZ' }] }), [`country_code_invalid ${geoAt}/locations/0/country_code`]],
  [geo({ locations: [{ country_code: 'DE', city: 'X' }] }), [`field_unknown ${geoAt}/locations/0/city`]],
  [geo({ action: 'block' }), [`value_not_allowed ${geoAt}/action`]],
  [{ geo_location_check: {} }, [`field_required ${geoAt}`, `field_required ${geoAt}`]],
  [ranges({ ranges: [] }), [`list_too_short ${rangeAt}/ranges`]],
  [ranges({ ranges: ['10.0.0.0/33'] }), [`cidr_invalid ${rangeAt}/ranges/0`]],
  [ranges({ ranges: ['10.0.0.1'] }), [`cidr_invalid ${rangeAt}/ranges/0`]],
  [ranges({ action: 'drop' }), [`value_not_allowed ${rangeAt}/action`]],
  [{ process_check: { processes: [] } }, ['list_too_short /checks/process_check/processes']],
  [{ process_check: { processes: [{}] } }, ['process_without_path /checks/process_check/processes/0']],
  [{ certificate_check: { ca_certificates: [] } }, ['list_too_short /checks/certificate_check/ca_certificates']],
  [
    { certificate_check: { ca_certificates: ['x', leaf] } },
    [
      'certificate_invalid /checks/certificate_check/ca_certificates/0',
      'certificate_invalid /checks/certificate_check/ca_certificates/1',
    ],
  ],
])('a posture check with checks %j is refused', async (checks, problems) => {
  const before = await api().revision();
  const answer = await post(body(checks));
  expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  expect(await api().revision()).toBe(before);
});

it.each<[string, Json, Json]>([
  ['no checks', {}, {}],
  ['checks that are null', null, {}],
  ['a check that is null', { client_version_check: null }, {}],
  ['no system', { os_version_check: {} }, { os_version_check: {} }],
  [
    'a country in lower case',
    geo({ locations: [{ country_code: 'de' }] }),
    geo({ locations: [{ country_code: 'de' }] }),
  ],
  ['single hosts', ranges({ ranges: ['10.0.0.1/32', '::1/128'] }), ranges({ ranges: ['10.0.0.1/32', '::1/128'] })],
])('a posture check accepts %s', async (_, checks, stored) => {
  const answer = await post(body(checks));
  expect([answer.status, answer.body.checks]).toEqual([200, stored]);
});

it('the name of a posture check is unique, also when it is changed', async () => {
  const first = (await post(body({}, { name: 'unique' }))).body.id;
  const second = (await post(body())).body.id;
  const refused = { status: 409, body: { message: expect.stringContaining('already exists') } };
  expect(await post(body({}, { name: 'unique' }))).toMatchObject(refused);
  expect(await api().call('PUT', `${path}/${second}`, body({}, { name: 'unique' }))).toMatchObject(refused);
  expect((await api().call('PUT', `${path}/${first}`, body({}, { name: 'unique' }))).status).toBe(200);
});

it('50 simultaneous creations of one name give one posture check and 49 conflicts', async () => {
  const value = body({}, { name: 'contended' });
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(value)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
});

it('a posture check that policies use cannot be deleted, and the refusal names them', async () => {
  const id = (await post(body())).body.id;
  const groups = [await api().group('posture')];
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
  const rules = [{ ...rule, sources: groups, destinations: groups }];
  const policy = (name: string) =>
    api().call('POST', '/api/policies', { name, enabled: true, source_posture_checks: [id], rules });
  const policies = [await policy('First user'), await policy('Second user')];
  expect(policies.map((made) => made.body.source_posture_checks)).toEqual([[id], [id]]);
  const refused = await api().call('DELETE', `${path}/${id}`);
  expect(refused.body).toMatchObject({ code: 412, message: expect.stringContaining('linked') });
  expect(refused.body.message).toContain('policy: First user');
  expect(refused.body.message).toContain('policy: Second user');
  for (const made of policies) await api().call('DELETE', `/api/policies/${made.body.id}`);
  expect((await api().call('DELETE', `${path}/${id}`)).status).toBe(200);
});
