import type { Engine } from '../commit/engine.ts';
import type { Report } from '../commit/report-once.ts';
import type { LeaseKeeper } from '../db/leases/lease-keeper.ts';
import { runDeliveries } from '../features/integrations/deliveries/dispatcher.ts';
import { createWebhookSigner } from '../features/integrations/notifications/webhook-keys.ts';
import { createTargets, type OpenTarget } from '../features/integrations/targets.ts';
import type { Outbound } from '../outbound/outbound.ts';

/** What a server does for integrations. */
interface Integrations {
  /** What the interface needs of it. */
  readonly services: { readonly openTarget: OpenTarget };
  /** Delivers from now on; the function it returns stops that. */
  run(options: RunOptions): () => Promise<void>;
}

interface RunOptions {
  readonly leaseSeconds: number;
  readonly leases?: LeaseKeeper;
  readonly report: Report<'warn' | 'error'>;
}

/** Wires what a server does for integrations. */
export function createIntegrations(engine: Engine, outbound: Outbound): Integrations {
  const open = createTargets({ outbound, signer: createWebhookSigner(engine), now: Date.now });
  return {
    services: { openTarget: open },
    run: (options) => runDeliveries({ ...options, engine, open, random: Math.random }),
  };
}
