/**
 * Looks up the DNS records by which users prove that a domain is theirs. Both methods throw when the lookup gets no
 * answer.
 */
export interface DnsLookups {
  /** Returns the texts of the TXT records of a name; empty when the name has none. */
  resolveTxt(name: string): Promise<readonly string[]>;
  /** Returns the targets of the CNAME records of a name; empty when the name has none. */
  resolveCname(name: string): Promise<readonly string[]>;
}
