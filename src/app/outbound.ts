import type { Engine } from '../commit/engine.ts';
import { type Report, reportOnce } from '../commit/report-once.ts';
import { createOutbound, type Outbound, type OutboundEvent } from '../outbound/outbound.ts';
import { programVersion } from '../version.ts';
import type { ServeOptions } from './serve-options.ts';

/**
 * Creates the client for connections to other hosts. Counts the outcome of each connection, and logs the details of
 * refusals that users do not see.
 */
export function openOutbound(
  engine: Engine,
  options: ServeOptions,
  { closing, report }: { readonly closing: (() => Promise<unknown>)[]; readonly report: Report<'info'> },
): Outbound {
  const { outboundAllow: allow, upstreamProxy: proxy, authorities } = options;
  const once = reportOnce(report);
  const observe = ({ detail, ...event }: OutboundEvent) => {
    engine.observer.report({ what: 'outbound', ...event });
    if (detail !== undefined) once('info', `${event.purpose}: ${detail}`);
  };
  const outbound = createOutbound({ allow, proxy, authorities, observe, userAgent: `Heddle/${programVersion()}` });
  closing.unshift(() => outbound.close());
  return outbound;
}
