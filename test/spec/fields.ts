import { access } from './fields-access.ts';
import { dnsAndKeys } from './fields-dns.ts';
import { integrations } from './fields-integrations.ts';
import { logs } from './fields-logs.ts';
import { networking } from './fields-networks.ts';
import { machines } from './fields-peers.ts';
import { people } from './fields-people.ts';
import { postureChecks } from './fields-posture.ts';
import { reverseProxy } from './fields-services.ts';
import { tenantsAndEdr } from './fields-tenants.ts';
import type { Rows } from './row.ts';

/** Request and answer of every operation. */
export const rows: Rows = {
  ...people,
  ...machines,
  ...access,
  ...postureChecks,
  ...networking,
  ...dnsAndKeys,
  ...tenantsAndEdr,
  ...integrations,
  ...reverseProxy,
  ...logs,
};
