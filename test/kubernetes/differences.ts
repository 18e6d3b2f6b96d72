import type { JsonObject } from '../../src/lib/json.ts';
import type { Kind } from '../../src/model/declare/kind.ts';
import { documentFaults, mutantsOf } from './verdicts.ts';

/** A resource that only one of the two validators, documents and the API server, refuses. */
interface Difference {
  readonly change: string;
  /** Codes of the faults of the document; empty when documents accept it. */
  readonly documents: readonly string[];
  /** Reasons of the API server's refusal; empty when it accepts. */
  readonly kubernetes: readonly string[];
}

/** Known reasons why documents refuse what the API server accepts. */
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

/** Known reasons why the API server refuses what documents accept. */
const stricter: Readonly<Record<string, RegExp>> = {
  'documents take an entry of a set that is written twice as one': /^repeated|Duplicate value/,
  'a secret that is written as it is is found when it is planned': /^type|must be of type object: "string"/,
};

function only(...codes: readonly string[]): (difference: Difference) => boolean {
  return ({ documents }) => documents.every((code) => codes.includes(code));
}

/** Returns the known reason for a difference, or `undefined` for an unexplained one. */
function reasonOf(difference: Difference): string | undefined {
  const { documents, kubernetes } = difference;
  const [found] =
    documents.length > 0
      ? Object.entries(left).filter(([, explains]) => explains(difference))
      : Object.entries(stricter).filter(([, pattern]) => kubernetes.every((text) => pattern.test(text)));
  return found?.[0];
}

/** Comparison of the two validators. */
export interface Comparison {
  readonly accepted: number;
  readonly refused: number;
  /** Number of differences, by the reason that explains them. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Differences that no known reason explains. */
  readonly unexplained: readonly string[];
}

/**
 * Compares the verdicts of documents and of an API server on `count` altered examples of all kinds. Codes for which
 * `isUnasked` is true are not compared when the API server accepts.
 */
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
