import type { Fault, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { mappingsOf, poolOf, portsOn, transports, usesTransport } from '../shared/ingress.ts';

/** Ports that were given away stay within the pools. */
export function checkServed(ingressPeer: Stored<'IngressPeer'>, state: State): readonly Fault[] {
  return transports.flatMap((transport) => {
    const pool = poolOf(ingressPeer, transport);
    const outside = portsOn(ingressPeer, state).filter((port) =>
      mappingsOf(port).some(
        ({ protocol, ingress_start: start, ingress_end: end }) =>
          usesTransport(protocol, transport) && (start < pool.start || end > pool.end),
      ),
    );
    if (outside.length === 0) return [];
    const names = outside.map(({ name }) => `\`${name}\``).join(', ');
    const message = `the ingress ports ${names} would fall outside the pool; delete them first, or keep it larger`;
    return [{ code: 'pool_in_use', path: `/${transport}_pool`, message }];
  });
}
