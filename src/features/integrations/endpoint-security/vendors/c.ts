import type { Json, JsonObject } from '../../../../lib/json.ts';
import { asObject, isObject } from '../../../../lib/json.ts';
import type { StoredSpec } from '../../../../model/state/stored.ts';
import { AnswerTooLarge, type AskVendor } from '../http.ts';
import { createProgressCheck, faultsOf, listIn, objectIn, textIn, urlBelow } from '../read.ts';
import type { Device, Vendor } from '../vendor.ts';

const path = '/api/v1/fleet/hosts';
const pageSize = 100;
/** Page size for hosts with their programs, which makes a host large. */
const pageSizeWithSoftware = 50;

/** Opens a product that lists hosts page by page with their policies and, if a condition needs them, their programs. */
export function openVendorC(settings: StoredSpec<'EdrVendorC'>, ask: AskVendor): Vendor {
  const base = String(settings.api_url);
  const headers = { authorization: `Bearer ${String(settings.api_token)}` };
  const conditions = settings.match_attributes ?? {};
  const withSoftware = typeof conditions['vulnerable_software_count_max'] === 'number';
  let size = withSoftware ? pageSizeWithSoftware : pageSize;
  const content = { populate_policies: 'true', ...(withSoftware ? { populate_software: 'true' } : {}) };
  const pageOfSize = async (query: Readonly<Record<string, string>>) => {
    const url = urlBelow(base, path, { ...content, per_page: String(size), order_key: 'id', ...query });
    const { body } = await ask({ url, headers });
    const hosts = listIn(body, { member: 'hosts', host: url.host, maxItems: size });
    return {
      devices: hosts.map((host) => deviceOf(host, conditions)),
      last: hosts.length < size ? undefined : hosts.at(-1)?.['id'],
    };
  };
  // A host may have thousands of programs. When an answer is too large, fewer hosts are read at once.
  const page = async (query: Readonly<Record<string, string>>): ReturnType<typeof pageOfSize> => {
    try {
      return await pageOfSize(query);
    } catch (error) {
      if (!(error instanceof AnswerTooLarge) || size === 1) throw error;
      size = Math.ceil(size / 2);
      return page(query);
    }
  };
  return {
    async *devices() {
      const advance = createProgressCheck(new URL(base).host);
      // Each page starts behind the last id, so that a host that is removed in between does not shift other hosts out
      // of the list.
      for (let after = '0'; ; ) {
        const { devices, last } = await page({ after });
        if (devices.length > 0) yield devices;
        if (typeof last !== 'number') return;
        after = String(last);
        advance(after);
      }
    },
    async find({ serial, hostname }) {
      const bySerial = serial === '' ? [] : (await page({ query: serial })).devices;
      const byName = hostname === '' ? [] : (await page({ query: hostname })).devices;
      return [...bySerial, ...byName];
    },
  };
}

function deviceOf(host: JsonObject, conditions: JsonObject): Device {
  return {
    id: String(host['id'] ?? ''),
    serial: textIn(host, 'hardware_serial'),
    hostname: textIn(host, 'hostname') || textIn(host, 'computer_name'),
    seenAt: textIn(host, 'seen_time'),
    faults: faultsIn(host, conditions),
  };
}

function faultsIn(host: JsonObject, conditions: JsonObject): readonly string[] {
  const {
    disk_encryption_enabled: encrypted,
    status_online: online,
    failing_policies_count_max: mostFailing,
    vulnerable_software_count_max: mostVulnerable,
    required_policies: required,
  } = conditions;
  const policies = objectsIn(host, 'policies');
  const unmet = numbersIn(required).filter(
    (id) => !policies?.some((policy) => policy['id'] === id && policy['response'] === 'pass'),
  );
  return faultsOf(
    encrypted === true && host['disk_encryption_enabled'] !== true && 'its disk is not encrypted',
    online === true && host['status'] !== 'online' && 'it is not online',
    describeExcess(countFailingPolicies(host, policies), mostFailing, 'failing policies'),
    describeExcess(countVulnerablePrograms(host), mostVulnerable, 'vulnerable programs'),
    unmet.length > 0 && `it does not meet the ${unmet.length === 1 ? 'policy' : 'policies'} ${unmet.join(', ')}`,
  );
}

function describeExcess(count: number | undefined, most: Json | undefined, what: string): string | false {
  if (typeof most !== 'number' || (count !== undefined && count <= most)) return false;
  return `${count ?? 'an unknown number of'} ${what}, and at most ${most} are allowed`;
}

/** Returns the number of failing policies. The product's own count takes precedence over the policies counted here. */
function countFailingPolicies(host: JsonObject, policies: readonly JsonObject[] | undefined): number | undefined {
  const counted = objectIn(host, 'issues')['failing_policies_count'];
  if (typeof counted === 'number') return counted;
  return policies?.filter(({ response }) => response === 'fail').length;
}

function countVulnerablePrograms(host: JsonObject): number | undefined {
  return objectsIn(host, 'software')?.filter(
    ({ vulnerabilities }) => Array.isArray(vulnerabilities) && vulnerabilities.length > 0,
  ).length;
}

function objectsIn(host: JsonObject, member: string): readonly JsonObject[] | undefined {
  const list = host[member];
  return Array.isArray(list)
    ? list.filter((item: Json) => isObject(item)).map((item: Json) => asObject(item))
    : undefined;
}

function numbersIn(value: Json | undefined): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}
