import { validateDomain } from '../../features/proxy/domains/domains.ts';
import { proxyDomains as operations } from '../../operations/proxy-domains.ts';
import { implement } from '../operations/implement.ts';

/** What happens to custom domains beside what happens to all objects. */
export const proxyDomains = implement(operations, (engine) => ({
  validate: ({ call, params }) => validateDomain(engine, call, params.domainId),
}));
