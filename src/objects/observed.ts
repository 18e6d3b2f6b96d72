import type { Engine } from '../commit/engine.ts';
import { observedIn } from '../commit/presence.ts';
import { readLogins } from '../db/accounts/identities.ts';
import { readSyncs } from '../db/logs/integration-syncs.ts';
import { readDomainFindings } from '../db/proxy/domains.ts';
import { readProxyStatus } from '../db/proxy/proxies.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import type { Kind } from '../model/declare/kind.ts';
import type { ObservationLookup } from '../model/state/observed.ts';

/**
 * Returns the current observations about the objects of a kind, which are stored outside revisions. Returns `undefined`
 * for kinds without observations.
 */
export async function readObserved(
  engine: Engine,
  kind: Kind,
  account: string,
): Promise<ObservationLookup | undefined> {
  if (kind.observed === 'peers') return observedIn(await engine.presence.read(account));
  if (kind.observed === 'people') return observedOfPeople(engine, account);
  if (kind.observed === 'integrations') return observedOfIntegrations(engine, account);
  return kind.observed === 'proxies' ? observedByProxies(engine, account) : undefined;
}

async function observedOfPeople({ database }: Engine, account: string): Promise<ObservationLookup> {
  const logins = await readLogins(database, account);
  const known = new Map(logins.map(({ user, at }) => [user, { last_login: at.toISOString() }] as const));
  return (id) => known.get(id);
}

async function observedOfIntegrations({ database }: Engine, account: string): Promise<ObservationLookup> {
  const known = await readSyncs(database, account);
  return (id) => {
    const at = known.get(id);
    return at === undefined ? undefined : { last_synced_at: at };
  };
}

async function observedByProxies({ database }: Engine, account: string): Promise<ObservationLookup> {
  const [{ clusters, services }, domains] = await Promise.all([
    readProxyStatus(database, account),
    readDomainFindings(database, account),
  ]);
  const known = new Map<string, JsonObject>();
  for (const { cluster_id, connected } of clusters) known.set(cluster_id, { connected_proxies: connected });
  for (const { service_id, status, certificate_issued_at } of services) {
    const issued: Json = certificate_issued_at?.toISOString() ?? null;
    known.set(service_id, { status, certificate_issued_at: issued });
  }
  for (const { domain_id, checked_at, validated, proved, problem } of domains)
    known.set(domain_id, { validated, proved, problem, checked_at: checked_at?.toISOString() ?? null });
  return (id) => known.get(id);
}
