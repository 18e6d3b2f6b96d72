import { asObject, isObject, type JsonObject } from '../../../../lib/json.ts';
import type { StoredSpec } from '../../../../model/state/stored.ts';
import { expiryOfSecret, readExpiringSecrets } from '../../application-secrets.ts';
import type { AskVendor } from '../http.ts';
import { withToken } from '../oauth.ts';
import { createProgressCheck, faultsOf, listIn, textIn, urlBelow } from '../read.ts';
import { type Device, type Vendor, VendorFailure } from '../vendor.ts';

const loginUrl = 'https://login.microsoftonline.com';
const graphUrl = 'https://graph.microsoft.com';
const path = '/v1.0/deviceManagement/managedDevices';
const pageSize = 1000;
/** Maximum number of devices that a search by name may return. */
const maxFoundDevices = 100;
const fields = 'id,deviceName,serialNumber,complianceState,lastSyncDateTime';

/** Opens a product that lists the managed devices in the graph of a tenant, with the token of an application. */
export function openVendorB(settings: StoredSpec<'EdrVendorB'>, plainAsk: AskVendor, now: () => number): Vendor {
  const base = settings.api_url || graphUrl;
  const form = {
    grant_type: 'client_credentials',
    client_id: String(settings.client_id),
    client_secret: String(settings.secret),
    scope: `${new URL(base).origin}/.default`,
  };
  const tenant = encodeURIComponent(String(settings.tenant_id));
  const url = urlBelow(settings.login_url || loginUrl, `/${tenant}/oauth2/v2.0/token`);
  const ask = withToken(plainAsk, { url, form }, now);
  const page = async (at: URL, most: number) => {
    const { body } = await ask({ url: at });
    return {
      devices: listIn(body, { member: 'value', host: at.host, maxItems: most }).map(deviceOf),
      next: nextPage(body, at),
    };
  };
  const filtered = async (filter: string) =>
    (
      await page(
        urlBelow(base, path, { $select: fields, $filter: filter, $top: String(maxFoundDevices) }),
        maxFoundDevices,
      )
    ).devices;
  return {
    async *devices() {
      const advance = createProgressCheck(new URL(base).host);
      let at: URL | undefined = urlBelow(base, path, { $select: fields, $top: String(pageSize) });
      while (at !== undefined) {
        const { devices, next }: Awaited<ReturnType<typeof page>> = await page(at, pageSize);
        yield devices;
        if (next !== undefined) advance(next.href);
        at = next;
      }
    },
    async find({ serial, hostname }) {
      const bySerial = serial === '' ? [] : await filtered(`serialNumber eq ${quoted(serial)}`);
      const byName = hostname === '' ? [] : await filtered(`deviceName eq ${quoted(hostname)}`);
      return [...bySerial, ...byName];
    },
    async credentialExpiry() {
      const application = `/v1.0/applications(appId='${encodeURIComponent(form.client_id)}')`;
      // An application may read its own entry only when that right was granted.
      const { body } = await ask({
        url: urlBelow(base, application, { $select: 'id,passwordCredentials' }),
        accepts: [403, 404],
      });
      return expiryOfSecret(readExpiringSecrets(asObject(body)['passwordCredentials']), form.client_secret);
    },
  };
}

/** Returns a text as an OData filter literal. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Returns the link to the next page. Throws when the link leads to another origin, because the token is sent with the
 * request.
 */
function nextPage(body: unknown, at: URL): URL | undefined {
  const link = isObject(body) ? body['@odata.nextLink'] : undefined;
  if (typeof link !== 'string') return undefined;
  const next = URL.parse(link) ?? undefined;
  if (next?.origin !== at.origin)
    throw new VendorFailure(`${at.host} links to a next page on another host, which is not read`);
  return next;
}

function deviceOf(device: JsonObject): Device {
  const state = textIn(device, 'complianceState');
  return {
    id: textIn(device, 'id'),
    serial: textIn(device, 'serialNumber'),
    hostname: textIn(device, 'deviceName'),
    seenAt: textIn(device, 'lastSyncDateTime'),
    faults: faultsOf(state !== 'compliant' && `its compliance state is \`${state || 'unknown'}\`, not \`compliant\``),
  };
}
