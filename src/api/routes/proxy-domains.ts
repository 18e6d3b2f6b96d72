import { validateDomain } from '../../features/proxy/domains/domains.ts';
import { proxyDomains as operations } from '../../operations/proxy-domains.ts';
import { implement } from '../operations/implement.ts';

/** Operations of custom domains, in addition to those of all kinds. */
export const proxyDomains = implement(operations, (engine) => ({
  validate: ({ call, params }) => validateDomain(engine, call, params.domainId),
}));
