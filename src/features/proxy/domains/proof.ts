import type { ProofMethod } from '../../../db/proxy/domains.ts';
import type { DnsLookups } from '../../../lib/net/dns-lookups.ts';
import { canonicalDomain, isWithin } from '../../../lib/net/domain.ts';
import { proofNameOf } from '../../../model/declare/service-words.ts';

/** What proves a custom domain. */
export interface ExpectedProof {
  readonly domain: string;
  /** What the TXT record says. */
  readonly text: string;
  /** Where a CNAME record leads. */
  readonly cluster: string;
  /** Whether the account has that cluster; otherwise a CNAME record proves nothing. */
  readonly isClusterKnown: boolean;
}

/** What name servers say about it. */
export type FoundProof =
  | { readonly outcome: 'proved'; readonly method: ProofMethod }
  /** `problem` says what was expected and found; `unknown` when a name server did not answer. */
  | { readonly outcome: 'absent' | 'unknown'; readonly problem: string };

type Found = readonly string[] | undefined;

/** Looks for a record that proves a custom domain. Does not throw. */
export async function lookForProof(dns: DnsLookups, expected: ExpectedProof): Promise<FoundProof> {
  const { domain, text, cluster, isClusterKnown } = expected;
  const name = proofNameOf(domain);
  const answered = (answer: Promise<readonly string[]>): Promise<Found> => answer.catch(() => undefined);
  // The name of the proof is one below the domain, so a wildcard record leads it where it leads all others.
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
  const problem = `the TXT record ${name} does not say \`${text}\` (${textsFound(texts)}), ${cnameProblem(expected, own, targets)}`;
  return { outcome: isUnknown ? 'unknown' : 'absent', problem };
}

function leadsTo(target: string, cluster: string): boolean {
  const name = canonicalDomain(target, { underscore: true });
  return name !== undefined && isWithin(name, cluster);
}

function textsFound(texts: Found): string {
  if (texts === undefined) return 'no name server answers';
  const [only, ...others] = texts;
  if (only === undefined) return 'there is none';
  return others.length === 0 ? `it says \`${shown(only)}\`` : `there are ${texts.length} of them, none is this one`;
}

function cnameProblem(
  { domain, cluster, isClusterKnown }: ExpectedProof,
  own: Found,
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
      : `it leads to ${shown(first)}`;
  return `and no CNAME record of ${domain} or *.${domain} leads to ${cluster} (${found}); add one of them`;
}

/** The beginning of what a stranger wrote, in characters that do no harm. */
function shown(text: string): string {
  const safe = text.slice(0, mostShown).replace(/[^\x20-\x7e]|`/g, '?');
  return text.length <= mostShown ? safe : `${safe}…`;
}

const mostShown = 100;
