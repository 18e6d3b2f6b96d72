import type { Fault } from '../../model/declare/kind.ts';

interface Matching {
  readonly primary: boolean;
  readonly domains: readonly string[];
  readonly search_domains_enabled: boolean;
}

/** A group answers either for everything or for some domains. */
export function checkMatching({ primary, domains, search_domains_enabled }: Matching): readonly Fault[] {
  const faults: Fault[] = [];
  if (primary && domains.length > 0) {
    const message = 'a primary group answers for all domains; leave `domains` empty, or set `primary` to false';
    faults.push({ code: 'nameserver_domains_exclusive', path: '/domains', message });
  }
  if (!primary && domains.length === 0) {
    const message = 'nothing says what the servers answer for; give `domains`, or set `primary` to true';
    faults.push({ code: 'nameserver_domains_exclusive', path: '/domains', message });
  }
  if (primary && search_domains_enabled) {
    const message = 'a primary group has no domains to complete names with; set `search_domains_enabled` to false';
    faults.push({ code: 'nameserver_search_unused', path: '/search_domains_enabled', message });
  }
  return faults;
}
