import { writeServiceStatus } from '../../src/db/proxy/proxies.ts';
import { storeRequests, storeTraffic } from '../logs/filled.ts';
import type { World } from './world.ts';

const kept = 30 * 86_400_000;

/** Stores a request with every field set, as proxies report it. */
export async function addRequest({ api, fresh }: World): Promise<void> {
  const now = Date.now();
  const record = {
    ...{ timestamp: new Date(now).toISOString(), id: fresh('request'), service_id: 's', method: 'GET' },
    ...{ host: 'app.example.com', path: '/in', duration_ms: 12, status_code: 200, source_ip: '192.0.2.1' },
    ...{ reason: 'none', user_id: 'u', auth_method_used: 'oidc', country_code: 'CH', city_name: 'Bern' },
    ...{ subdivision_code: 'BE', bytes_upload: 1, bytes_download: 2, protocol: 'http', metadata: { a: 'b' } },
  };
  await storeRequests(api.engine.database, api.account, fresh('batch'), [record], { now, keptMs: kept });
}

/** Stores a traffic flow, as peers report it. */
export async function addTraffic({ api, fresh }: World): Promise<void> {
  const now = Date.now();
  const start = new Date(now - 60_000).toISOString();
  const end = new Date(now).toISOString();
  const record = {
    ...{ flow_id: fresh('flow'), window_start: start, window_end: end, protocol: 6, direction: 'INGRESS' },
    ...{ source_ip: '100.64.0.1', source_port: 40_000, destination_ip: '100.64.0.2', destination_port: 443 },
    events: [{ type: 'TYPE_START', timestamp: start }],
  };
  await storeTraffic(api.engine.database, api.account, fresh('batch'), [record], {}, { now, keptMs: kept });
}

/** Reports that the certificate of a service was issued, as its proxies do. Returns the id of the service. */
export async function reportCertificate({ api }: World, service: string): Promise<string> {
  const status = { service_id: service, status: 'active', certificate_issued_at: '2026-01-02T03:04:05.000Z' };
  await writeServiceStatus(api.engine.database, api.account, 'proxy', [status]);
  return service;
}
