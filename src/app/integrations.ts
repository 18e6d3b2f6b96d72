import type { Engine } from '../commit/engine.ts';
import type { Report } from '../commit/report-once.ts';
import type { LeaseKeeper } from '../db/leases/lease-keeper.ts';
import { runDeliveries } from '../features/integrations/deliveries/dispatcher.ts';
import { createDirectorySyncs, type RequestSync } from '../features/integrations/directory/dispatcher.ts';
import { runEndpointSecurity } from '../features/integrations/endpoint-security/dispatcher.ts';
import { createWebhookSigner } from '../features/integrations/notifications/webhook-keys.ts';
import { runRemovals } from '../features/integrations/provisioning/delete-removed.ts';
import { createTargets, type OpenTarget } from '../features/integrations/targets.ts';
import { runDomainChecks } from '../features/proxy/domains/dispatcher.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { ServeOptions } from './serve-options.ts';

/** Services and background loops of the integrations. */
interface Integrations {
  /** Services that the API uses. */
  readonly services: { readonly openTarget: OpenTarget; readonly requestSync: RequestSync };
  /**
   * Starts the loops that deliver events, query endpoint-security products, synchronize directories, check custom
   * domains, and delete the users and groups that their identity provider no longer has. Returns a function that stops
   * them.
   */
  run(): () => Promise<void>;
}

interface IntegrationParts {
  readonly outbound: Outbound;
  readonly closing: (() => Promise<unknown>)[];
  readonly leaseSeconds: number;
  readonly leases?: LeaseKeeper;
  readonly report: Report<'warn' | 'error'>;
}

/** Creates the integrations of a server. */
export async function createIntegrations(
  engine: Engine,
  {
    mail: server,
    authorities,
    publicUrl,
    directoryHosts: hosts,
  }: Pick<ServeOptions, 'mail' | 'authorities' | 'publicUrl' | 'directoryHosts'>,
  { outbound, closing, ...parts }: IntegrationParts,
): Promise<Integrations> {
  // Imported on demand: few servers send mail.
  const transport =
    server && (await import('../outbound/mail.ts')).createMailTransport({ ...server, authorities, pool: true });
  const mail = server && transport && { transport, from: server.from };
  closing.unshift(async () => transport?.close());
  const open = createTargets({ outbound, mail, publicUrl, signer: createWebhookSigner(engine), now: Date.now });
  const common = { ...parts, engine, random: Math.random };
  const directories = createDirectorySyncs({ ...common, outbound, hosts });
  return {
    services: { openTarget: open, requestSync: directories.requestSync },
    run() {
      const stops = [
        runDeliveries({ ...common, open }),
        runEndpointSecurity({ ...common, outbound }),
        runDomainChecks(common),
        runRemovals({ engine, report: parts.report }),
        directories.run(),
      ];
      return async () => void (await Promise.all(stops.map((stop) => stop())));
    },
  };
}
