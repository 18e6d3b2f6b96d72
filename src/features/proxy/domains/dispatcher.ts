import type { CommittedRevision } from '../../../commit/engine.ts';
import { type Report, reportOnce } from '../../../commit/report-once.ts';
import type { LeaseKeeper } from '../../../db/leases/lease-keeper.ts';
import { adoptDomains, countUnvalidated, findDueDomains } from '../../../db/proxy/domains.ts';
import { isOfKind } from '../../../model/state/stored.ts';
import { keepLooking } from '../../integrations/deliveries/looks.ts';
import { createHeldWork, ownerName } from '../../integrations/held-work.ts';
import { type CheckOptions, checkDomain } from './check.ts';

/** How a server checks custom domains. */
export interface DomainCheckOptions extends CheckOptions {
  /** When this server is gone, another one goes on after so long. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy; absent: nothing does. */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'letGo'> | undefined;
  /** How often to look for what is due. */
  readonly pollMs?: number;
  /** How long commits are collected before it looks. */
  readonly gatherMs?: number;
  readonly report: Report<'warn' | 'error'>;
}

const usualPollMs = 5000;
const usualGatherMs = 200;
const atOnce = { inAll: 16, ofAccount: 4 };
/** How many domains are looked at together. */
const mostFound = 1000;

/**
 * Looks for the records that prove the custom domains of all accounts, again and again. Any number of servers may: each domain is
 * checked by the one that has its lease. Returns a function that stops it, and waits for what is under way.
 */
export function runDomainChecks(options: DomainCheckOptions): () => Promise<void> {
  const { engine, pollMs = usualPollMs, gatherMs = usualGatherMs } = options;
  const report = reportOnce(options.report);
  const failed = (what: string) => (error: unknown) =>
    report('error', `${what}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
  const owner = ownerName(engine);
  const jobs = createHeldWork({
    ...{ ...options, owner, atOnce },
    failed: ({ lease }, error) => failed(`the check \`${lease}\``)(error),
    ended: () => looks.within(gatherMs),
  });
  let isAdopted = false;
  const dispatch = async (): Promise<void> => {
    if (!isAdopted) {
      // Before it begins: a domain that is committed meanwhile wants another look.
      isAdopted = true;
      await adoptDomains(engine.database).catch((error: unknown) => {
        isAdopted = false;
        throw error;
      });
    }
    const due = await findDueDomains(engine.database, { owner, limit: mostFound });
    engine.observer.report({ what: 'proxy_domains_unvalidated', domains: await countUnvalidated(engine.database) });
    for (const { account, domain } of due)
      void jobs.start({ account, lease: `proxy-domain/${domain}` }, (hold) => checkDomain(options, hold, domain));
  };
  const looks = keepLooking(() => dispatch().catch(failed('custom domains')), { pollMs, gatherMs });
  const hear = ({ plan }: CommittedRevision): void => {
    if (!plan.changes.some(({ after }) => isOfKind(after, 'ProxyDomain'))) return;
    isAdopted = false;
    looks.within(gatherMs);
  };
  engine.listeners.add(hear);
  const unlisten = engine.notices.on(({ what }) => (what === 'domains' ? looks.within(gatherMs) : undefined));
  return async () => {
    unlisten();
    engine.listeners.delete(hear);
    await Promise.all([looks.stop(), jobs.stop()]);
  };
}
