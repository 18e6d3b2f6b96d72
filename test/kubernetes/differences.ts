import type { JsonObject } from '../../src/lib/json.ts';
import type { Kind } from '../../src/model/declare/kind.ts';
import { documentFaults, mutantsOf } from './verdicts.ts';

/** A resource about which documents and the API server do not agree. */
interface Difference {
  readonly change: string;
  /** What documents refuse, by code; empty where they accept. */
  readonly documents: readonly string[];
  /** What the API server refuses; empty where it accepts. */
  readonly kubernetes: readonly string[];
}

/** Why documents refuse what the API server accepts. */
const left: Readonly<Record<string, (difference: Difference) => boolean>> = {
  'Kubernetes drops members that are null': ({ change }) => change.startsWith('null '),
  'free members beside declared ones, and what is a text or names where it comes from, have no one type': ({
    change,
  }) => / \/(target\/url|config\b)/.test(change),
  'the pattern of a format is coarser than the format': only(
    ...['certificate_invalid', 'country_code_invalid', 'domain_invalid', 'event_type_invalid', 'version_invalid'],
    ...['address_invalid', 'cidr_invalid', 'duration_invalid', 'email_invalid', 'host_invalid', 'ipv4_invalid'],
    ...[
      'ipv6_invalid',
      'path_invalid',
      'port_invalid',
      'port_or_range_invalid',
      'record_name_invalid',
      'record_content_invalid',
      'url_invalid',
    ],
    ...['network_range_invalid', 'country_invalid', 'base64_invalid'],
  ),
  'another source may state the other member': only(
    ...['access_test_from_exclusive', 'access_test_to_exclusive', 'access_test_port_unused', 'ingress_port_exclusive'],
    ...['nameserver_domains_exclusive', 'route_destination_exclusive', 'route_router_exclusive', 'router_exclusive'],
  ),
  'only a function of the kind can say it': only(
    ...['stream_key_required', 'stream_key_unknown', 'setup_key_limit', 'port_repeated'],
    ...['channel_target_incomplete', 'channel_target_mixed', 'channel_header_invalid', 'header_name_invalid'],
    ...['service_port_unused', 'service_targets_many', 'service_auth_unused', 'service_private_mode'],
    ...['service_private_groups', 'service_private_bearer', 'service_secret_missing'],
    ...['target_host_missing', 'target_not_direct', 'target_option_unused'],
  ),
};

/** Why the API server refuses what documents accept. */
const stricter: Readonly<Record<string, RegExp>> = {
  'documents take an entry of a set that is written twice as one': /^repeated|Duplicate value/,
  'a secret that is written as it is is found when it is planned': /^type|must be of type object: "string"/,
};

function only(...codes: readonly string[]): (difference: Difference) => boolean {
  return ({ documents }) => documents.every((code) => codes.includes(code));
}

/** The reason of a difference; `undefined` for one that nobody knows. */
function reasonOf(difference: Difference): string | undefined {
  const { documents, kubernetes } = difference;
  const [found] =
    documents.length > 0
      ? Object.entries(left).filter(([, explains]) => explains(difference))
      : Object.entries(stricter).filter(([, pattern]) => kubernetes.every((text) => pattern.test(text)));
  return found?.[0];
}

/** How two validators compare. */
export interface Comparison {
  readonly accepted: number;
  readonly refused: number;
  /** How many differences each reason explains. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Differences that nothing explains. */
  readonly unexplained: readonly string[];
}

/** Holds changed examples of all kinds against documents and an API server, which may leave some codes unasked. */
export async function compare(
  count: number,
  seed: number,
  ask: (kind: Kind, spec: JsonObject) => readonly string[] | Promise<readonly string[]>,
  isUnasked: (code: string) => boolean = () => false,
): Promise<Comparison> {
  const counts = { accepted: 0, refused: 0 };
  const reasons: Record<string, number> = {};
  const unexplained: string[] = [];
  for (const { kind, spec, change } of mutantsOf(count, seed)) {
    const kubernetes = await ask(kind, spec);
    const all = documentFaults(kind, spec);
    const documents = kubernetes.length > 0 ? all : all.filter((code) => !isUnasked(code));
    if (documents.length > 0 === kubernetes.length > 0) counts[documents.length > 0 ? 'refused' : 'accepted'] += 1;
    else {
      const reason = reasonOf({ change, documents, kubernetes });
      if (reason === undefined) unexplained.push(`${kind.name} ${change}: ${[...documents, ...kubernetes].join('; ')}`);
      else reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
  }
  return { ...counts, reasons, unexplained };
}
