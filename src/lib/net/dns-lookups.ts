/** Asks name servers for the records by which people prove that a domain is theirs. Both throw when no answer comes. */
export interface DnsLookups {
  /** The texts of the TXT records of a name; none when there are none. */
  resolveTxt(name: string): Promise<readonly string[]>;
  /** Where the CNAME records of a name lead; none when there are none. */
  resolveCname(name: string): Promise<readonly string[]>;
}
