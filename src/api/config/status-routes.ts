import { rotateKeys } from '../../features/auth/provider/keys.ts';
import { rotateSecrets } from '../../features/config/archive/secrets.ts';
import { troubledDeliveries } from '../../features/integrations/deliveries/status.ts';
import { troubledProviders } from '../../features/integrations/directory/status.ts';
import { troubledEndpointSecurity } from '../../features/integrations/endpoint-security/status.ts';
import { findOfflineIngressPeers } from '../../features/integrations/ingress-status.ts';
import { findUnprovedDomains } from '../../features/proxy/domains/domains.ts';
import { accountStatus } from '../../features/sources/status.ts';
import { Conflict } from '../../model/errors.ts';
import { status as operations } from '../../operations/config/status.ts';
import { implement } from '../operations/implement.ts';

/** Status of the whole account, and rotation of the server's secrets and keys. */
export const status = implement(operations, (engine, { version }) => ({
  async read({ call }) {
    const [account, deliveries, endpointSecurity, provisioning, ingress, domains] = await Promise.all([
      accountStatus(engine, call, version),
      troubledDeliveries(engine, call),
      troubledEndpointSecurity(engine, call),
      troubledProviders(engine, call),
      findOfflineIngressPeers(engine, call),
      findUnprovedDomains(engine, call),
    ]);
    return {
      ...account,
      ...(deliveries.length === 0 ? {} : { deliveries }),
      ...(endpointSecurity.length === 0 ? {} : { endpointSecurity }),
      ...(provisioning.length === 0 ? {} : { provisioning }),
      ...(ingress.length === 0 ? {} : { ingress }),
      ...(domains.length === 0 ? {} : { domains }),
    };
  },
  rotateSecrets: ({ body }) => rotateSecrets(engine, body),
  async rotateIdpKeys() {
    if (!engine.registry.installation.embeddedIdp)
      throw new Conflict('precondition', 'this server is not an identity provider (HEDDLE_IDP=off), so it has no keys');
    return { key: await rotateKeys({ database: engine.database, vault: engine.planEnvironment.vault }) };
  },
}));
