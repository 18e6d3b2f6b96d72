import type { Json } from '../../src/lib/json.ts';
import type { BodyName } from './bodies.ts';

/** A line of the Limits table, or half of it: values at the limit, and values one step beyond it. */
export interface Limit {
  readonly scope: string;
  readonly in: BodyName;
  /** JSON pointer of the value in the body. */
  readonly at: string;
  readonly inside: readonly Json[];
  readonly outside: readonly Json[];
  /** Different values for documents, which accept everything that requests of the profile `compatible` accept. */
  readonly inDocuments?: Pick<Limit, 'inside' | 'outside'>;
}

const text = (length: number) => 'x'.repeat(length);
const domains = (count: number) => Array.from({ length: count }, (_, at) => `d${at}-${count}.example.com`);
/** Longest possible domain name: 253 characters. */
const longest = `${Array.from({ length: 4 }, () => text(63))
  .join('.')
  .slice(0, 253 - 2)}.x`;

/** Limits on the content of configuration. */
export const limits: readonly Limit[] = [
  {
    scope: 'Setup key `expires_in`: 86400 to 31536000',
    in: 'setupKey',
    at: '/expires_in',
    inside: [86_400, 31_536_000],
    outside: [86_399, 31_536_001],
    inDocuments: { inside: [0, 86_399, 3_153_600_000], outside: [-1, 3_153_600_001] },
  },
  { scope: 'Setup key `usage_limit`: 0 is unlimited', in: 'setupKey', at: '/usage_limit', inside: [0], outside: [-1] },
  { scope: 'Route `metric`: 1 to 9999', in: 'route', at: '/metric', inside: [1, 9999], outside: [0, 10_000] },
  { scope: 'Router `metric`: 1 to 9999', in: 'router', at: '/metric', inside: [1, 9999], outside: [0, 10_000] },
  {
    scope: 'Route `network_id`: 1 to 40 characters',
    in: 'route',
    at: '/network_id',
    inside: ['x', text(40)],
    outside: ['', text(41)],
  },
  { scope: 'Route `domains`: at most 32', in: 'route', at: '/domains', inside: [domains(32)], outside: [domains(33)] },
  {
    scope: 'DNS zone `name`: 1 to 255 characters',
    in: 'zone',
    at: '/name',
    inside: ['x', text(255)],
    outside: ['', text(256)],
  },
  {
    // A text of 254 or 255 characters is not a domain name.
    scope: 'DNS record `content`: 1 to 255 characters',
    in: 'record',
    at: '/content',
    inside: ['x', longest],
    outside: ['', `${longest.slice(0, -2)}${text(5)}`],
  },
  // The specification does not state the bound; wire facts 11 does.
  { scope: 'DNS record `ttl`: a lower bound', in: 'record', at: '/ttl', inside: [0], outside: [-1] },
  {
    scope: 'Service `listen_port`: 0 to 65535',
    in: 'tcp',
    at: '/listen_port',
    inside: [0, 1, 65_535],
    outside: [-1, 65_536],
  },
  {
    scope: 'Target `port`: 1 to 65535',
    in: 'http',
    at: '/targets/0/port',
    inside: [1, 65_535],
    outside: [0, 65_536],
    inDocuments: { inside: [0, 65_535], outside: [-1, 65_536] },
  },
  ...(['edrA', 'edrB', 'edrC'] as const).map((vendor) => ({
    scope: `EDR \`last_synced_interval\` (${vendor}): at least 24`,
    in: vendor,
    at: '/last_synced_interval',
    inside: [24],
    outside: [23],
  })),
  {
    scope: 'Vendor D `zta_score_threshold`: 0 to 100',
    in: 'edrD',
    at: '/zta_score_threshold',
    inside: [0, 100],
    outside: [-1, 101],
  },
  ...['failing_policies_count_max', 'vulnerable_software_count_max'].map((name) => ({
    scope: `Vendor C \`${name}\`: at least 0`,
    in: 'edrC' as const,
    at: `/match_attributes/${name}`,
    inside: [0],
    outside: [-1],
  })),
  {
    scope: 'Directory `sync_interval`: at least 300',
    in: 'directory',
    at: '/sync_interval',
    inside: [300],
    outside: [299],
  },
];
