import { countUnvalidated, createMissingDomains, findDueDomains } from '../../../db/proxy/domains.ts';
import { isOfKind } from '../../../model/state/stored.ts';
import { createDueWork, type DueWorkOptions } from '../../integrations/due-work.ts';
import { type CheckOptions, checkDomain } from './check.ts';

/** Options for the domain checks of a server. */
export type DomainCheckOptions = CheckOptions & DueWorkOptions;

const maxChecks = { inAll: 16, ofAccount: 4 };
/** Maximum numbers of due domains that are read at once: in total, and of one account. */
const maxDueDomains = { inAll: 1000, ofAccount: 100 };

/**
 * Starts the loop that looks up the records that prove the custom domains of all accounts. Any number of servers may
 * run it: each domain is checked by the server that has its lease. Returns a function that stops the loop and waits for
 * the running checks.
 */
export function runDomainChecks(options: DomainCheckOptions): () => Promise<void> {
  const { engine } = options;
  return createDueWork(options, {
    ...{ name: 'custom domains', atOnce: maxChecks, notices: ['domains'] },
    nameOf: ({ lease }) => `the check \`${lease}\``,
    createMissingJobs: () => createMissingDomains(engine.database),
    async poll({ owner, start }) {
      const due = await findDueDomains(engine.database, { owner, most: maxDueDomains });
      engine.observer.report({ what: 'proxy_domains_unvalidated', domains: await countUnvalidated(engine.database) });
      for (const { account, domain } of due)
        void start({ account, lease: `proxy-domain/${domain}` }, (hold) => checkDomain(options, hold, domain));
    },
    onRevision({ plan }, { requestMissingJobs }) {
      if (plan.changes.some(({ after }) => isOfKind(after, 'ProxyDomain'))) requestMissingJobs();
    },
  }).run();
}
