import type { ProofMethod } from '../../../db/proxy/domains.ts';
import type { DnsLookups } from '../../../lib/net/dns-lookups.ts';
import { canonicalDomain, isWithin } from '../../../lib/net/domain.ts';
import { proofNameOf } from '../../../model/declare/service-words.ts';

/** Records that prove a custom domain. */
export interface ExpectedProof {
  readonly domain: string;
  /** Expected text of the TXT record. */
  readonly text: string;
  /** Expected target of a CNAME record. */
  readonly cluster: string;
  /** Whether the account has this cluster. Otherwise a CNAME record proves nothing. */
  readonly isClusterKnown: boolean;
}

/** Result of the look-up. */
export type FoundProof =
  | { readonly outcome: 'proved'; readonly method: ProofMethod }
  /** `problem` describes the records that were expected and found. `unknown`: a name server did not answer. */
  | { readonly outcome: 'absent' | 'unknown'; readonly problem: string };

type FoundRecords = readonly string[] | undefined;

/** Looks up the records that prove a custom domain. Does not throw. */
export async function lookForProof(dns: DnsLookups, expected: ExpectedProof): Promise<FoundProof> {
  const { domain, text, cluster, isClusterKnown } = expected;
  const name = proofNameOf(domain);
  const answered = (answer: Promise<readonly string[]>): Promise<FoundRecords> => answer.catch(() => undefined);
  // The name of the TXT record is a subdomain of the domain, so a wildcard CNAME record covers it, too.
  const [texts, own, below] = await Promise.all([
    answered(dns.resolveTxt(name)),
    answered(dns.resolveCname(domain)),
    answered(dns.resolveCname(name)),
  ]);
  if (texts?.includes(text) === true) return { outcome: 'proved', method: 'txt' };
  const targets = [...(own ?? []), ...(below ?? [])];
  if (isClusterKnown && targets.some((target) => leadsTo(target, cluster)))
    return { outcome: 'proved', method: 'cname' };
  const isUnknown = texts === undefined || own === undefined || below === undefined;
  const problem = `the TXT record ${name} does not contain \`${text}\` (${describeTexts(texts)}), ${cnameProblem(expected, own, targets)}`;
  return { outcome: isUnknown ? 'unknown' : 'absent', problem };
}

function leadsTo(target: string, cluster: string): boolean {
  const name = canonicalDomain(target, { underscore: true });
  return name !== undefined && isWithin(name, cluster);
}

function describeTexts(texts: FoundRecords): string {
  if (texts === undefined) return 'no name server answers';
  const [only, ...others] = texts;
  if (only === undefined) return 'there is none';
  return others.length === 0
    ? `it says \`${toPrintable(only)}\``
    : `there are ${texts.length} of them, none is this one`;
}

function cnameProblem(
  { domain, cluster, isClusterKnown }: ExpectedProof,
  own: FoundRecords,
  targets: readonly string[],
): string {
  if (!isClusterKnown)
    return `and a CNAME record proves nothing while the account has no cluster ${cluster}; add the TXT record, or let the proxies of that cluster register`;
  const [first] = targets;
  const found =
    first === undefined
      ? own === undefined
        ? 'no name server answers'
        : 'there is none'
      : `it points to ${toPrintable(first)}`;
  return `and no CNAME record of ${domain} or *.${domain} points to ${cluster} (${found}); add one of them`;
}

/** Returns the beginning of a text from a foreign record, with unsafe characters replaced. */
function toPrintable(text: string): string {
  const safe = text.slice(0, maxShownLength).replace(/[^\x20-\x7e]|`/g, '?');
  return text.length <= maxShownLength ? safe : `${safe}…`;
}

const maxShownLength = 100;
