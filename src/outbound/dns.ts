import { Resolver } from 'node:dns/promises';
import { codeOf } from '../lib/error-code.ts';
import type { DnsLookups } from '../lib/net/dns-lookups.ts';

/** Timeout of a query to one name server, in milliseconds, and number of queries per name server. */
const limits = { timeout: 2000, tries: 2 };

/** Maximum duration of a look-up across all name servers, in milliseconds. */
const defaultDeadlineMs = 10_000;

/** Maximum number of records of a name that are returned. */
const maxRecords = 100;

/** Error codes with which DNS reports that there is no such record: a result, not a failure. */
const noRecordCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** Name servers and deadline of look-ups. */
export interface DnsOptions {
  /**
   * Addresses of name servers, with the port when it is not the usual one. Absent or empty: the name servers of this
   * machine.
   */
  readonly servers?: readonly string[] | undefined;
  readonly deadlineMs?: number;
}

/** Creates DNS look-ups without a cache. */
export function createDnsLookups(options: DnsOptions = {}): DnsLookups {
  return {
    resolveTxt: (name) =>
      lookUp(options, async (resolver) => (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))),
    resolveCname: (name) => lookUp(options, (resolver) => resolver.resolveCname(name)),
  };
}

async function lookUp(
  { servers = [], deadlineMs = defaultDeadlineMs }: DnsOptions,
  ask: (resolver: Resolver) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  // Each look-up has a separate resolver: a cached answer would hide a record that was just added.
  const resolver = new Resolver(limits);
  if (servers.length > 0) resolver.setServers(servers);
  const deadline = setTimeout(() => resolver.cancel(), deadlineMs);
  try {
    return (await ask(resolver)).slice(0, maxRecords);
  } catch (error) {
    if (noRecordCodes.has(codeOf(error))) return [];
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}
