import type { Json, JsonObject } from '../../../../lib/json.ts';
import { asObject, isObject } from '../../../../lib/json.ts';
import { splitIntoParts } from '../../../../lib/steps.ts';
import type { StoredSpec } from '../../../../model/state/stored.ts';
import type { AskVendor } from '../http.ts';
import { withToken } from '../oauth.ts';
import {
  createProgressCheck,
  faultsOf,
  type ListLocation,
  listIn,
  objectIn,
  textIn,
  textsIn,
  urlBelow,
} from '../read.ts';
import { type Device, type Vendor, VendorFailure } from '../vendor.ts';

/** API address of each region. For any other region `api_url` must be set. */
const regions: Readonly<Record<string, string>> = {
  'us-1': 'https://api.crowdstrike.com',
  'us-2': 'https://api.us-2.crowdstrike.com',
  'eu-1': 'https://api.eu-1.crowdstrike.com',
  'us-gov-1': 'https://api.laggar.gcw.crowdstrike.com',
  'us-gov-2': 'https://api.us-gov-2.crowdstrike.mil',
};

/** Maximum numbers per request: ids on a page of the query, devices, and assessments, whose ids are part of the URL. */
const maxIdsPerRequest = 5000;
const maxDevicesPerRequest = 500;
const maxAssessmentsPerRequest = 100;
/** Maximum number of devices that a search by name may return. */
const maxFoundDevices = 100;
/** Maximum number of concurrent requests for assessments. */
const maxConcurrentRequests = 4;

/** Opens a product that lists devices and their assessments, with the token of an API client. */
export function openVendorD(settings: StoredSpec<'EdrVendorD'>, plainAsk: AskVendor, now: () => number): Vendor {
  const base = baseOf(settings);
  const form = { client_id: String(settings.client_id), client_secret: String(settings.secret) };
  const ask = withToken(plainAsk, { url: urlBelow(base, '/oauth2/token'), form }, now);
  const threshold = Number(settings.zta_score_threshold);
  const reading: ReadContext = { base, ask, threshold };
  return {
    async *devices() {
      const advance = createProgressCheck(new URL(base).host);
      let offset: string | undefined;
      do {
        const query = {
          limit: String(maxIdsPerRequest),
          sort: 'device_id.asc',
          ...(offset === undefined ? {} : { offset }),
        };
        const url = urlBelow(base, '/devices/queries/devices-scroll/v1', query);
        const { body } = await ask({ url });
        const ids = textsIn(body, { member: 'resources', host: url.host, maxItems: maxIdsPerRequest });
        // The offset may stay the same while scrolling, so the first id of each page must be new instead.
        advance(ids[0] ?? '');
        for (const some of splitIntoParts(ids, maxDevicesPerRequest)) yield await readDevices(reading, some);
        // The last page may still contain an offset, so an empty page ends the reading.
        offset = ids.length === 0 ? undefined : nextOffset(body);
      } while (offset !== undefined);
    },
    async find({ serial, hostname }) {
      const ids = new Set<string>();
      for (const [field, value] of [
        ['serial_number', serial],
        ['hostname', hostname],
      ] as const) {
        if (value === '') continue;
        const url = urlBelow(base, '/devices/queries/devices/v1', {
          limit: String(maxFoundDevices),
          filter: `${field}:${quoted(value)}`,
        });
        const { body } = await ask({ url });
        for (const id of textsIn(body, { member: 'resources', host: url.host, maxItems: maxFoundDevices })) ids.add(id);
      }
      return readDevices(reading, [...ids]);
    },
  };
}

interface ReadContext {
  readonly base: string;
  readonly ask: AskVendor;
  readonly threshold: number;
}

function baseOf(settings: StoredSpec<'EdrVendorD'>): string {
  const own = settings.api_url ?? '';
  if (own !== '') return own;
  const region = settings.cloud_id ?? '';
  const known = regions[region.toLowerCase()];
  if (known !== undefined) return known;
  throw new VendorFailure(
    `the region \`${region}\` is not known; write one of ${Object.keys(regions).join(', ')}, or its address as \`api_url\``,
  );
}

/** Returns a text as a filter literal. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

async function readDevices({ base, ask, threshold }: ReadContext, ids: readonly string[]): Promise<readonly Device[]> {
  if (ids.length === 0) return [];
  const url = urlBelow(base, '/devices/entities/devices/v2');
  const headers = { 'content-type': 'application/json' };
  const { body } = await ask({ url, method: 'POST', headers, body: JSON.stringify({ ids }) });
  const resources = listIn(body, { member: 'resources', host: url.host, maxItems: ids.length });
  // Other data about the devices is not kept in memory while their scores are read.
  const devices = resources.map(readIdentity);
  const scores = await readScores(base, ask, ids);
  return devices.map((device) => deviceOf(device, scores.get(device.id), threshold));
}

/** Returns the overall scores of the devices that have an assessment, by id. */
async function readScores(base: string, ask: AskVendor, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const scores = new Map<string, number>();
  const batches = [...splitIntoParts(ids, maxAssessmentsPerRequest)];
  const work = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const url = urlBelow(base, '/zero-trust-assessment/entities/assessments/v1');
      for (const id of batch) url.searchParams.append('ids', id);
      // Status 404 means that some of the devices have no assessment. The answer contains the others all the same.
      const { body } = await ask({ url, accepts: [404] });
      for (const assessment of assessmentsIn(body, { member: 'resources', host: url.host, maxItems: batch.length })) {
        const overall = objectIn(assessment, 'assessment')['overall'];
        const id = textIn(assessment, 'aid');
        if (typeof overall === 'number' && batch.includes(id)) scores.set(id, overall);
      }
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentRequests }, work));
  return scores;
}

function readIdentity(device: JsonObject): Omit<Device, 'faults'> {
  return {
    id: textIn(device, 'device_id'),
    serial: textIn(device, 'serial_number'),
    hostname: textIn(device, 'hostname'),
    seenAt: textIn(device, 'last_seen'),
  };
}

function deviceOf(names: Omit<Device, 'faults'>, score: number | undefined, threshold: number): Device {
  return {
    ...names,
    faults: faultsOf(
      score === undefined && 'it has no assessment',
      score !== undefined && score < threshold && `its assessment is ${score}, and at least ${threshold} is needed`,
    ),
  };
}

/** Returns the assessments in an answer. The list may be missing when none of the devices has an assessment. */
function assessmentsIn(body: Json, location: ListLocation): readonly JsonObject[] {
  const list = isObject(body) ? asObject(body)[location.member] : undefined;
  return Array.isArray(list) ? listIn(body, location) : [];
}

function nextOffset(body: Json): string | undefined {
  const offset = objectIn(objectIn(body, 'meta'), 'pagination')['offset'];
  return typeof offset === 'string' && offset !== '' ? offset : undefined;
}
