import { asObject, isObject, type JsonObject } from '../../../../lib/json.ts';
import type { StoredSpec } from '../../../../model/state/stored.ts';
import { endOfSecret, readSecretEnds } from '../../application-secrets.ts';
import type { AskVendor } from '../http.ts';
import { withToken } from '../oauth.ts';
import { demandProgress, faultsOf, listIn, textIn, urlBelow } from '../read.ts';
import { type Device, type Vendor, VendorFailure } from '../vendor.ts';

const loginUrl = 'https://login.microsoftonline.com';
const graphUrl = 'https://graph.microsoft.com';
const path = '/v1.0/deviceManagement/managedDevices';
const pageSize = 1000;
/** More devices with one name are not looked at one by one. */
const fewDevices = 100;
const fields = 'id,deviceName,serialNumber,complianceState,lastSyncDateTime';

/** Managed devices of the graph of a tenant, read with the token of an application. */
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
    return { devices: listIn(body, { member: 'value', host: at.host, most }).map(deviceOf), next: nextPage(body, at) };
  };
  const filtered = async (filter: string) =>
    (await page(urlBelow(base, path, { $select: fields, $filter: filter, $top: String(fewDevices) }), fewDevices))
      .devices;
  return {
    async *devices() {
      const advance = demandProgress(new URL(base).host);
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
    async credentialEnd() {
      const application = `/v1.0/applications(appId='${encodeURIComponent(form.client_id)}')`;
      // An application may read itself when it was granted that.
      const { body } = await ask({
        url: urlBelow(base, application, { $select: 'id,passwordCredentials' }),
        accepts: [403, 404],
      });
      return endOfSecret(readSecretEnds(asObject(body)['passwordCredentials']), form.client_secret);
    },
  };
}

/** A text in a filter of OData. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The next page is where the product says, if that is the product: the token goes along. */
function nextPage(body: unknown, at: URL): URL | undefined {
  const link = isObject(body) ? body['@odata.nextLink'] : undefined;
  if (typeof link !== 'string') return undefined;
  const next = URL.canParse(link) ? new URL(link) : undefined;
  if (next?.origin !== at.origin)
    throw new VendorFailure(`${at.host} names a next page that is on another host, which is not read`);
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
