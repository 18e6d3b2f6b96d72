import { isObject, type JsonObject } from '../../../../lib/json.ts';
import type { StoredSpec } from '../../../../model/state/stored.ts';
import type { AskVendor } from '../http.ts';
import { createProgressCheck, expiryOfToken, faultsOf, listIn, momentIn, objectIn, textIn, urlBelow } from '../read.ts';
import type { Device, Vendor } from '../vendor.ts';

const path = '/web/api/v2.1/agents';
const detailsPath = '/web/api/v2.1/users/api-token-details';
/** Number of agents on a page. They include all data that the product has about them. */
const pageSize = 500;
/** Maximum number of agents that a search by name may return. */
const maxFoundAgents = 100;

/** Opens a product that lists agents by cursor, with an API token. */
export function openVendorA(settings: StoredSpec<'EdrVendorA'>, ask: AskVendor): Vendor {
  const base = String(settings.api_url);
  const token = String(settings.api_token);
  const headers = { authorization: `ApiToken ${token}` };
  const conditions = settings.match_attributes ?? {};
  const page = async (limit: number, query: Readonly<Record<string, string>>) => {
    const url = urlBelow(base, path, { limit: String(limit), ...query });
    const { body } = await ask({ url, headers });
    const agents = listIn(body, { member: 'data', host: url.host, maxItems: limit });
    return { devices: agents.map((agent) => deviceOf(agent, conditions)), next: nextCursor(body) };
  };
  return {
    async *devices() {
      const advance = createProgressCheck(new URL(base).host);
      let cursor: string | undefined;
      do {
        const { devices, next } = await page(pageSize, cursor === undefined ? {} : { cursor });
        yield devices;
        if (next !== undefined) advance(next);
        cursor = next;
      } while (cursor !== undefined);
    },
    async find({ serial, hostname }) {
      const bySerial = serial === '' ? [] : (await page(maxFoundAgents, { serialNumber__contains: serial })).devices;
      const byName = hostname === '' ? [] : (await page(maxFoundAgents, { computerName__contains: hostname })).devices;
      return [...bySerial, ...byName];
    },
    async credentialExpiry() {
      // A token of a service user states its end itself, and may not query it.
      const own = expiryOfToken(token);
      if (own !== undefined) return own;
      const { body } = await ask({
        ...{ url: urlBelow(base, detailsPath), method: 'POST', accepts: [400, 401, 403, 404] },
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ data: { apiToken: token } }),
      });
      return momentIn(objectIn(body, 'data'), 'expiresAt');
    },
  };
}

function nextCursor(body: unknown): string | undefined {
  const pagination = isObject(body) ? body['pagination'] : undefined;
  const cursor = isObject(pagination) ? pagination['nextCursor'] : undefined;
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}

function deviceOf(agent: JsonObject, conditions: JsonObject): Device {
  return {
    id: textIn(agent, 'id'),
    serial: textIn(agent, 'serialNumber'),
    hostname: textIn(agent, 'computerName'),
    seenAt: textIn(agent, 'lastActiveDate'),
    faults: faultsIn(agent, conditions),
  };
}

/** Returns the faults of an agent. A condition about which the product reports nothing counts as not met. */
function faultsIn(agent: JsonObject, conditions: JsonObject): readonly string[] {
  const { active_threats: threats, infected } = conditions;
  const open = agent['activeThreats'];
  const lacks = (condition: string, member: string) => conditions[condition] === true && agent[member] !== true;
  const differs = (condition: string, member: string) =>
    typeof conditions[condition] === 'string' &&
    conditions[condition] !== '' &&
    agent[member] !== conditions[condition];
  return faultsOf(
    typeof threats === 'number' &&
      !(typeof open === 'number' && open <= threats) &&
      `${typeof open === 'number' ? open : 'an unknown number of'} active threats, and at most ${threats} are allowed`,
    lacks('encrypted_applications', 'encryptedApplications') && 'its applications are not encrypted',
    lacks('firewall_enabled', 'firewallEnabled') && 'the firewall is off',
    typeof infected === 'boolean' &&
      agent['infected'] !== infected &&
      (infected ? 'it is not infected' : 'it is infected'),
    lacks('is_active', 'isActive') && 'the agent is not active',
    lacks('is_up_to_date', 'isUpToDate') && 'the agent is not up to date',
    differs('network_status', 'networkStatus') &&
      `its network status is not \`${String(conditions['network_status'])}\``,
    differs('operational_state', 'operationalState') &&
      `its operational state is not \`${String(conditions['operational_state'])}\``,
  );
}
