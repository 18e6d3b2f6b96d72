import type { ServeOptions } from '../app.ts';
import type { Engine } from '../commit/engine.ts';
import { createOutbound, type Outbound, type OutboundEvent } from '../outbound/outbound.ts';
import { programVersion } from '../version.ts';

type Report = (level: 'info', message: string) => void;

/** The way to other hosts, which is measured; why users are refused one in detail goes to the log. */
export function openOutbound(
  engine: Engine,
  options: ServeOptions,
  { closing, report }: { readonly closing: (() => Promise<unknown>)[]; readonly report: Report },
): Outbound {
  const { outboundAllow: allow, upstreamProxy: proxy } = options;
  const once = reportOnce(report);
  const observe = ({ detail, ...event }: OutboundEvent) => {
    engine.observer.report({ what: 'outbound', ...event });
    if (detail !== undefined) once(`${event.purpose}: ${detail}`);
  };
  const outbound = createOutbound({ allow, proxy, observe, userAgent: `Heddle/${programVersion()}` });
  closing.unshift(() => outbound.close());
  return outbound;
}

/** So many messages are remembered. */
const mostRemembered = 1000;

/** Says what has not been said before: who is refused asks again and again. */
function reportOnce(report: Report): (message: string) => void {
  const said = new Set<string>();
  return (message) => {
    if (said.has(message)) return;
    if (said.size >= mostRemembered) said.clear();
    said.add(message);
    report('info', message);
  };
}
