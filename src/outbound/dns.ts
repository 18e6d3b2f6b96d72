import { Resolver } from 'node:dns/promises';
import { codeOf } from '../lib/error-code.ts';
import type { DnsLookups } from '../lib/net/dns-lookups.ts';

/** How long one name server may take, and how often each is asked. */
const limits = { timeout: 2000, tries: 2 };

/** How long a look-up may take with all name servers, in milliseconds. */
const usualDeadlineMs = 10_000;

/** So many records of a name are looked at. */
const mostRecords = 100;

/** DNS says that there is nothing: an answer, not a failure. */
const nothing: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** Whom look-ups ask. */
export interface DnsOptions {
  /** Addresses, with a port where it is another one; absent or none: the name servers of this machine. */
  readonly servers?: readonly string[] | undefined;
  readonly deadlineMs?: number;
}

/** Creates look-ups that remember nothing. */
export function createDnsLookups(options: DnsOptions = {}): DnsLookups {
  return {
    resolveTxt: (name) =>
      lookUp(options, async (resolver) => (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))),
    resolveCname: (name) => lookUp(options, (resolver) => resolver.resolveCname(name)),
  };
}

async function lookUp(
  { servers = [], deadlineMs = usualDeadlineMs }: DnsOptions,
  ask: (resolver: Resolver) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  // A resolver of its own for each question: what one remembers would hide a record that was just added.
  const resolver = new Resolver(limits);
  if (servers.length > 0) resolver.setServers(servers);
  const deadline = setTimeout(() => resolver.cancel(), deadlineMs);
  try {
    return (await ask(resolver)).slice(0, mostRecords);
  } catch (error) {
    if (nothing.has(codeOf(error))) return [];
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}
