import type { Json, JsonObject } from '../../../../lib/json.ts';
import { asObject, isObject } from '../../../../lib/json.ts';
import { inParts } from '../../../../lib/steps.ts';
import type { StoredSpec } from '../../../../model/state/stored.ts';
import type { AskVendor } from '../http.ts';
import { withToken } from '../oauth.ts';
import { demandProgress, faultsOf, type ListPlace, listIn, objectIn, textIn, textsIn, urlBelow } from '../read.ts';
import { type Device, type Vendor, VendorFailure } from '../vendor.ts';

/** Where each region answers; what is not among them is an address of its own. */
const regions: Readonly<Record<string, string>> = {
  'us-1': 'https://api.crowdstrike.com',
  'us-2': 'https://api.us-2.crowdstrike.com',
  'eu-1': 'https://api.eu-1.crowdstrike.com',
  'us-gov-1': 'https://api.laggar.gcw.crowdstrike.com',
  'us-gov-2': 'https://api.us-gov-2.crowdstrike.mil',
};

/** How many ids one page of the query has, how many devices are read at once, and how many assessments: those stand in the URL. */
const idsAtOnce = 5000;
const devicesAtOnce = 500;
const assessmentsAtOnce = 100;
/** More devices with one name are not looked at one by one. */
const fewDevices = 100;
/** How many requests for assessments are under way at once. */
const lanes = 4;

/** Devices and their assessments, read with the token of a client. */
export function openVendorD(settings: StoredSpec<'EdrVendorD'>, plainAsk: AskVendor, now: () => number): Vendor {
  const base = baseOf(settings);
  const form = { client_id: String(settings.client_id), client_secret: String(settings.secret) };
  const ask = withToken(plainAsk, { url: urlBelow(base, '/oauth2/token'), form }, now);
  const threshold = Number(settings.zta_score_threshold);
  const reading: Reading = { base, ask, threshold };
  return {
    async *devices() {
      const advance = demandProgress(new URL(base).host);
      let offset: string | undefined;
      do {
        const query = { limit: String(idsAtOnce), sort: 'device_id.asc', ...(offset === undefined ? {} : { offset }) };
        const url = urlBelow(base, '/devices/queries/devices-scroll/v1', query);
        const { body } = await ask({ url });
        const ids = textsIn(body, { member: 'resources', host: url.host, most: idsAtOnce });
        // Scrolling may go on with one offset; what is on the page is what must be new.
        advance(ids[0] ?? '');
        for (const some of inParts(ids, devicesAtOnce)) yield await readDevices(reading, some);
        // The last page may still say where the next one would be.
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
          limit: String(fewDevices),
          filter: `${field}:${quoted(value)}`,
        });
        const { body } = await ask({ url });
        for (const id of textsIn(body, { member: 'resources', host: url.host, most: fewDevices })) ids.add(id);
      }
      return readDevices(reading, [...ids]);
    },
  };
}

interface Reading {
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

/** A text in a filter. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

async function readDevices({ base, ask, threshold }: Reading, ids: readonly string[]): Promise<readonly Device[]> {
  if (ids.length === 0) return [];
  const url = urlBelow(base, '/devices/entities/devices/v2');
  const headers = { 'content-type': 'application/json' };
  const { body } = await ask({ url, method: 'POST', headers, body: JSON.stringify({ ids }) });
  const resources = listIn(body, { member: 'resources', host: url.host, most: ids.length });
  // What else is said of them is not kept while their scores are read.
  const devices = resources.map(namesOf);
  const scores = await readScores(base, ask, ids);
  return devices.map((device) => deviceOf(device, scores.get(device.id), threshold));
}

/** The overall scores of devices that have an assessment. */
async function readScores(base: string, ask: AskVendor, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const scores = new Map<string, number>();
  const batches = [...inParts(ids, assessmentsAtOnce)];
  const work = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const url = urlBelow(base, '/zero-trust-assessment/entities/assessments/v1');
      for (const id of batch) url.searchParams.append('ids', id);
      // 404 says that some of them have no assessment; the others are in the answer all the same.
      const { body } = await ask({ url, accepts: [404] });
      for (const assessment of assessmentsIn(body, { member: 'resources', host: url.host, most: batch.length })) {
        const overall = objectIn(assessment, 'assessment')['overall'];
        const id = textIn(assessment, 'aid');
        if (typeof overall === 'number' && batch.includes(id)) scores.set(id, overall);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return scores;
}

function namesOf(device: JsonObject): Omit<Device, 'faults'> {
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

/** Where none of them has an assessment there may be no list. */
function assessmentsIn(body: Json, place: ListPlace): readonly JsonObject[] {
  const list = isObject(body) ? asObject(body)[place.member] : undefined;
  return Array.isArray(list) ? listIn(body, place) : [];
}

function nextOffset(body: Json): string | undefined {
  const offset = objectIn(objectIn(body, 'meta'), 'pagination')['offset'];
  return typeof offset === 'string' && offset !== '' ? offset : undefined;
}
