import type { JsonObject } from '../../../src/lib/json.ts';
import {
  demandQuery,
  type Handle,
  type KnownDevice,
  numberIn,
  type Product,
  type ProductRequest,
  Refused,
  startProduct,
  tokenServer,
} from './product.ts';

/** Counterparts with the APIs that the vendors document. By default their devices meet all requirements. */

export const tokenA = 'token-of-a';
export const tokenC = 'token-of-c';
export const credentialsB = { tenant_id: 'tenant-1', client_id: 'app-1', secret: 'secret-of-b' };
export const credentialsD = { client_id: 'client-of-d', secret: 'secret-of-d' };

/** Returns a device that was last seen now. */
export function device(name: string, more: JsonObject = {}, change: Partial<KnownDevice> = {}): KnownDevice {
  return { id: `id-${name}`, serial: `SN-${name}`, hostname: name, seenAt: new Date().toISOString(), more, ...change };
}

/** Starts vendor A: agents, protected by an API token and paged by cursor. */
export function startVendorA(tls?: { readonly key: string; readonly cert: string }): Promise<Product> {
  const cursors = new Map<string, { readonly at: number; readonly filter: string }>();
  const handle: Handle = (request, { devices, credentialEnds }) => {
    const { method, url, headers, body } = request;
    const isDetails = method === 'POST' && url.pathname === '/web/api/v2.1/users/api-token-details';
    if (!isDetails && (method !== 'GET' || url.pathname !== '/web/api/v2.1/agents'))
      throw new Refused(404, 'no such resource');
    if (!/^ApiToken (token-of-a|[\w-]+\.[\w-]+\.[\w-]+)$/.test(headers.authorization ?? ''))
      throw new Refused(401, 'not authenticated');
    if (isDetails) {
      if (headers['content-type'] !== 'application/json') throw new Refused(415, 'no JSON');
      if (body !== JSON.stringify({ data: { apiToken: tokenA } })) throw new Refused(400, 'it is another token');
      return {
        status: 200,
        body: { data: { createdAt: '2026-01-02T03:04:05.000Z', expiresAt: credentialEnds ?? null } },
      };
    }
    demandQuery(request, ['limit', 'cursor', 'serialNumber__contains', 'computerName__contains']);
    const limit = numberIn(request, 'limit', 10, 1000);
    const [serial, name] = ['serialNumber__contains', 'computerName__contains'].map((one) => url.searchParams.get(one));
    const matching = devices.filter(
      (one) => one.serial.includes(serial ?? '') && one.hostname.toLowerCase().includes((name ?? '').toLowerCase()),
    );
    const cursor = url.searchParams.get('cursor');
    const known = cursor === null ? { at: 0, filter: `${limit}` } : cursors.get(cursor);
    if (known === undefined || (cursor !== null && known.filter !== `${limit}`))
      throw new Refused(400, 'the cursor is not one of these');
    const end = known.at + limit;
    const next = end < matching.length ? `cursor-${end}-${cursors.size}` : null;
    if (next !== null) cursors.set(next, { at: end, filter: `${limit}` });
    return {
      status: 200,
      body: {
        data: matching.slice(known.at, end).map(agentOf),
        pagination: { nextCursor: next, totalItems: matching.length },
      },
    };
  };
  return startProduct(handle, tls === undefined ? {} : { tls });
}

function agentOf({ id, serial, hostname, seenAt, more = {} }: KnownDevice): JsonObject {
  return {
    ...{ id, serialNumber: serial, computerName: hostname, lastActiveDate: seenAt, activeThreats: 0, infected: false },
    ...{ encryptedApplications: true, firewallEnabled: true, isActive: true, isUpToDate: true },
    ...{ networkStatus: 'connected', operationalState: 'na', ...more },
  };
}

/**
 * Starts vendor B: managed devices of a tenant, protected by tokens of the tenant's token endpoint, and paged by links
 * to the next page.
 */
export async function startVendorB({ seconds = 3599, pageSize = 1000 } = {}): Promise<Product> {
  const { tenant_id: tenant, client_id, secret: client_secret } = credentialsB;
  let tokens: ReturnType<typeof tokenServer> | undefined;
  const handle: Handle = (request, { devices, credentialEnds, url: base }) => {
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope: `${base}/.default` };
    tokens ??= tokenServer(form, { seconds, status: 200 });
    const { method, url } = request;
    if (url.pathname === `/${tenant}/oauth2/v2.0/token`) return tokens.grant(request);
    const isApplication = url.pathname === `/v1.0/applications(appId='${client_id}')`;
    if (method !== 'GET' || (!isApplication && url.pathname !== '/v1.0/deviceManagement/managedDevices'))
      throw new Refused(404, 'no such resource');
    tokens.demand(request);
    if (isApplication) {
      demandQuery(request, ['$select']);
      if (credentialEnds === undefined)
        return { status: 403, body: { error: { code: 'Authorization_RequestDenied' } } };
      const others = [
        { hint: 'oth', endDateTime: '2020-01-02T03:04:05Z' },
        { hint: null, endDateTime: null },
      ];
      return {
        status: 200,
        body: { id: 'o', passwordCredentials: [...others, { hint: 'sec', endDateTime: credentialEnds }] },
      };
    }
    demandQuery(request, ['$select', '$filter', '$top', '$skiptoken']);
    const top = Math.min(numberIn(request, '$top', 1000, 1000), pageSize);
    const matching = devices.filter(filterOf(url.searchParams.get('$filter')));
    const at = Number(url.searchParams.get('$skiptoken') ?? 0);
    const next = new URL(`${base}${url.pathname}${url.search}`);
    next.searchParams.set('$skiptoken', String(at + top));
    const select = (url.searchParams.get('$select') ?? '').split(',');
    return {
      status: 200,
      body: {
        value: matching.slice(at, at + top).map((one) => selected(managedOf(one), select)),
        ...(at + top < matching.length ? { '@odata.nextLink': next.href } : {}),
      },
    };
  };
  return startProduct(handle, { revoke: () => tokens?.granted.clear() });
}

function filterOf(filter: string | null): (device: KnownDevice) => boolean {
  if (filter === null) return () => true;
  const [, field, value = ''] = /^(serialNumber|deviceName) eq '((?:[^']|'')*)'$/.exec(filter) ?? [];
  if (field === undefined) throw new Refused(400, `the filter ${filter} is not understood`);
  const text = value.replaceAll("''", "'");
  return ({ serial, hostname }) => (field === 'serialNumber' ? serial : hostname) === text;
}

function selected(object: JsonObject, names: readonly string[]): JsonObject {
  const unknown = names.find((name) => !(name in object));
  if (unknown !== undefined) throw new Refused(400, `there is no property ${unknown}`);
  return Object.fromEntries(names.map((name) => [name, object[name] ?? null]));
}

function managedOf({ id, serial, hostname, seenAt, more = {} }: KnownDevice): JsonObject {
  return {
    id,
    serialNumber: serial,
    deviceName: hostname,
    lastSyncDateTime: seenAt,
    complianceState: 'compliant',
    ...more,
  };
}

/** Starts vendor C: hosts, protected by a token and paged by the last id. */
export function startVendorC(): Promise<Product> {
  return startProduct((request, { devices }) => {
    const { method, url, headers } = request;
    if (method !== 'GET' || url.pathname !== '/api/v1/fleet/hosts') throw new Refused(404, 'no such resource');
    if (headers.authorization !== `Bearer ${tokenC}`) throw new Refused(401, 'authentication required');
    demandQuery(request, ['page', 'per_page', 'order_key', 'after', 'query', 'populate_policies', 'populate_software']);
    const after = url.searchParams.get('after');
    if (after !== null && url.searchParams.get('order_key') !== 'id') throw new Refused(422, 'after needs order_key');
    const size = numberIn(request, 'per_page', 100, 10_000);
    const query = (url.searchParams.get('query') ?? '').toLowerCase();
    const hosts = devices
      .map((one, at) => hostOf(one, at + 1, url))
      .filter(({ id }) => Number(id) > Number(after ?? 0))
      .filter(({ hostname, hardware_serial: serial }) => `${hostname} ${serial}`.toLowerCase().includes(query));
    return { status: 200, body: { hosts: hosts.slice(0, size) } };
  });
}

function hostOf({ serial, hostname, seenAt, more = {} }: KnownDevice, id: number, { searchParams }: URL): JsonObject {
  const { policies = [{ id: 3, response: 'pass' }], software = [], ...others } = more;
  return {
    ...{ id, hardware_serial: serial, hostname, seen_time: seenAt, status: 'online', disk_encryption_enabled: true },
    ...{ issues: { failing_policies_count: 0, total_issues_count: 0 }, ...others },
    ...(searchParams.get('populate_policies') === 'true' ? { policies } : {}),
    ...(searchParams.get('populate_software') === 'true' ? { software } : {}),
  };
}

/**
 * Starts vendor D: devices, protected by client credentials tokens. A client scrolls through the ids, then reads the
 * devices, then their assessments.
 */
export async function startVendorD({ seconds = 1799 } = {}): Promise<Product> {
  const { client_id, secret: client_secret } = credentialsD;
  const tokens = tokenServer({ client_id, client_secret }, { seconds, status: 201 });
  const handle: Handle = (request, { devices }) => {
    const path = `${request.method} ${request.url.pathname}`;
    if (path === 'POST /oauth2/token') return tokens.grant(request);
    tokens.demand(request);
    if (path === 'GET /devices/queries/devices-scroll/v1') return scroll(request, devices);
    if (path === 'GET /devices/queries/devices/v1') return query(request, devices);
    if (path === 'POST /devices/entities/devices/v2') return entities(request, devices);
    if (path === 'GET /zero-trust-assessment/entities/assessments/v1') return assessments(request, devices);
    throw new Refused(404, 'no such resource');
  };
  return startProduct(handle, { revoke: () => tokens.granted.clear() });
}

type Devices = readonly KnownDevice[];

function scroll(request: ProductRequest, devices: Devices) {
  demandQuery(request, ['limit', 'offset', 'sort', 'filter']);
  const limit = numberIn(request, 'limit', 100, 5000);
  const at = Number(/^scroll-(\d+)$/.exec(request.url.searchParams.get('offset') ?? 'scroll-0')?.[1] ?? Number.NaN);
  if (Number.isNaN(at)) throw new Refused(400, 'the offset is not one of these');
  const resources = devices.slice(at, at + limit).map(({ id }) => id);
  const offset = at + limit < devices.length ? `scroll-${at + limit}` : '';
  return { status: 200, body: { meta: { pagination: { total: devices.length, offset } }, resources, errors: [] } };
}

function query(request: ProductRequest, devices: Devices) {
  demandQuery(request, ['limit', 'offset', 'sort', 'filter']);
  numberIn(request, 'limit', 100, 5000);
  const [, field, value = ''] =
    /^(serial_number|hostname):'((?:[^'\\]|\\.)*)'$/.exec(request.url.searchParams.get('filter') ?? '') ?? [];
  if (field === undefined) throw new Refused(400, 'the filter is not understood');
  const text = value.replaceAll(/\\(.)/g, '$1');
  const found = devices.filter(({ serial, hostname }) => (field === 'serial_number' ? serial : hostname) === text);
  return { status: 200, body: { meta: {}, resources: found.map(({ id }) => id), errors: [] } };
}

function entities({ headers, body }: ProductRequest, devices: Devices) {
  if (headers['content-type'] !== 'application/json') throw new Refused(415, 'no JSON');
  const { ids } = JSON.parse(body) as { readonly ids?: readonly string[] };
  if (ids === undefined || ids.length < 1 || ids.length > 5000) throw new Refused(400, 'ids must be 1 to 5000');
  const resources = devices
    .filter(({ id }) => ids.includes(id))
    .map(({ id, serial, hostname, seenAt }) => ({ device_id: id, serial_number: serial, hostname, last_seen: seenAt }));
  return { status: 200, body: { meta: {}, resources, errors: [] } };
}

function assessments({ url }: ProductRequest, devices: Devices) {
  const ids = url.searchParams.getAll('ids');
  if (ids.length < 1 || ids.length > 100) throw new Refused(400, 'ids must be 1 to 100');
  const known = devices.filter(({ id, more }) => ids.includes(id) && more?.['score'] !== null);
  const resources = known.map(({ id, more }) => ({ aid: id, assessment: { overall: more?.['score'] ?? 90, os: 90 } }));
  const errors = ids
    .filter((id) => !known.some((one) => one.id === id))
    .map((id) => ({ code: 404, message: `no assessment of ${id}` }));
  return { status: errors.length > 0 ? 404 : 200, body: { meta: {}, resources, errors } };
}
