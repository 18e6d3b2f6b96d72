import type { ServeOptions } from '../app.ts';
import type { Engine } from '../engine/engine.ts';
import { createOutbound, type Outbound, type OutboundEvent } from '../outbound/outbound.ts';
import { programVersion } from '../version.ts';

/** The way to other hosts, which is measured. */
export function openOutbound(engine: Engine, options: ServeOptions, closing: (() => Promise<unknown>)[]): Outbound {
  const { outboundAllow: allow, upstreamProxy: proxy } = options;
  const observe = (event: OutboundEvent) => engine.observer.tell({ what: 'outbound', ...event });
  const outbound = createOutbound({ allow, proxy, observe, userAgent: `Heddle/${programVersion()}` });
  closing.unshift(() => outbound.close());
  return outbound;
}
