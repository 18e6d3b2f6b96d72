import { one, type PathParameters, type Rows, sample } from './row.ts';
import { answer, boolean, integer, list, type Members, O, R, text, timestamp } from './shape.ts';
import type { World } from './world.ts';

const record = answer({ id: text, name: text, type: text, content: text, ttl: integer });

const zone = answer({
  id: text,
  name: text,
  domain: text,
  enabled: boolean,
  enable_search_domain: boolean,
  distribution_groups: list(text),
  records: list(record),
});

const zoneFields: Members = {
  name: R(text),
  domain: R(text),
  enabled: O(boolean),
  enable_search_domain: R(boolean),
  distribution_groups: R(list(text)),
};

const zoneBody = async (world: World) => ({
  name: world.fresh('Zone'),
  domain: `${world.fresh('zone')}.example.com`,
  enabled: true,
  enable_search_domain: false,
  distribution_groups: [await world.group()],
});

const newZone = async (world: World) => (await world.send('POST', '/api/dns/zones', await zoneBody(world))).id;

/** Creates a zone with a record. Returns the ids of both. */
const atRecord = async (world: World): Promise<PathParameters> => {
  const { id, domain } = await world.send('POST', '/api/dns/zones', await zoneBody(world));
  const body = { name: `first.${domain}`, type: 'A', content: '10.1.1.1', ttl: 300 };
  return { zoneId: id, recordId: (await world.send('POST', `/api/dns/zones/${id}/records`, body)).id };
};

const fullZone = async (world: World) => (await atRecord(world))['zoneId'] ?? '';

const zones: Rows = {
  'GET /api/dns/zones': { given: fullZone, answer: list(zone) },
  'POST /api/dns/zones': { request: { fields: zoneFields, samples: [sample(zoneBody)] }, answer: zone },
  'GET /api/dns/zones/{zoneId}': { at: one('zoneId', fullZone), answer: zone },
  'PUT /api/dns/zones/{zoneId}': {
    at: one('zoneId', newZone),
    request: { fields: zoneFields, samples: [sample(zoneBody)] },
    answer: zone,
  },
  'DELETE /api/dns/zones/{zoneId}': { at: one('zoneId', fullZone), answer: 'no body' },
};

const recordFields: Members = { name: R(text), type: R(text), content: R(text), ttl: R(integer) };

const domainOf = async (world: World, { zoneId }: PathParameters): Promise<string> =>
  (await world.send('GET', `/api/dns/zones/${zoneId}`)).domain;

const recordSamples = [
  ['A', '10.2.3.4'],
  ['AAAA', '2001:db8::4'],
  ['CNAME', 'elsewhere.example.org'],
].map(([type = '', content = '']) =>
  sample(async (world, parameters) => ({
    name: `${world.fresh('host')}.${await domainOf(world, parameters)}`,
    type,
    content,
    ttl: 300,
  })),
);

const records: Rows = {
  'GET /api/dns/zones/{zoneId}/records': { at: atRecord, answer: list(record) },
  'POST /api/dns/zones/{zoneId}/records': {
    at: one('zoneId', newZone),
    request: { fields: recordFields, samples: recordSamples },
    answer: record,
  },
  'GET /api/dns/zones/{zoneId}/records/{recordId}': { at: atRecord, answer: record },
  'PUT /api/dns/zones/{zoneId}/records/{recordId}': {
    at: atRecord,
    request: { fields: recordFields, samples: recordSamples },
    answer: record,
  },
  'DELETE /api/dns/zones/{zoneId}/records/{recordId}': { at: atRecord, answer: 'no body' },
};

const setupKey = answer({
  id: integer,
  name: text,
  expires: timestamp,
  type: text,
  valid: boolean,
  revoked: boolean,
  used_times: integer,
  last_used: timestamp,
  state: text,
  auto_groups: list(text),
  updated_at: timestamp,
  usage_limit: integer,
  ephemeral: boolean,
  allow_extra_dns_labels: boolean,
  key: text,
});

const keyBody = async (world: World) => ({
  name: world.fresh('Key'),
  type: 'reusable',
  expires_in: 86400,
  auto_groups: [await world.group()],
  usage_limit: 10,
  ephemeral: true,
  allow_extra_dns_labels: true,
});

const newKey = async (world: World) => String((await world.send('POST', '/api/setup-keys', await keyBody(world))).id);

const setupKeys: Rows = {
  'GET /api/setup-keys': { given: newKey, answer: list(setupKey) },
  'POST /api/setup-keys': {
    request: {
      fields: {
        name: R(text),
        type: R(text),
        expires_in: R(integer),
        auto_groups: R(list(text)),
        usage_limit: R(integer),
        ephemeral: O(boolean),
        allow_extra_dns_labels: O(boolean),
      },
      samples: [
        sample(keyBody),
        sample(async (world) => ({ ...(await keyBody(world)), type: 'one-off', usage_limit: 1 })),
      ],
    },
    answer: setupKey,
  },
  'GET /api/setup-keys/{keyId}': { at: one('keyId', newKey), answer: setupKey },
  'PUT /api/setup-keys/{keyId}': {
    at: one('keyId', newKey),
    request: {
      fields: { revoked: R(boolean), auto_groups: R(list(text)) },
      samples: [true, false].map((revoked) =>
        sample(async (world) => ({ revoked, auto_groups: [await world.group()] })),
      ),
    },
    answer: setupKey,
  },
  'DELETE /api/setup-keys/{keyId}': { at: one('keyId', newKey), answer: 'no body' },
};

/** Operations on zones with their records, and on setup keys. */
export const dnsAndKeys: Rows = { ...zones, ...records, ...setupKeys };
