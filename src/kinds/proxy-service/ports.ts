import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import { chosenPort, portOf } from '../shared/service-port.ts';

/** Range of ports that the server chooses from: above the well-known ports, below those of outgoing connections. */
const firstPort = 10_000;
const lastPort = 49_151;

/** Whether the server chose the port. */
export function isPortChosen(service: Stored<'ProxyService'>): boolean {
  return service.spec.listen_port === 0 && portOf(service) !== 0;
}

/** Assigns a port to a service that leaves the choice to the server. It keeps a port that it has. */
export function assignPort(
  { before, after }: ObjectChange<Stored<'ProxyService'>>,
  state: State,
): readonly DerivedChange[] {
  if (after === undefined || after.spec.mode === 'http') return [];
  const chosen = chosenPort(after);
  const port = after.spec.listen_port !== 0 ? 0 : chosen || heldPort(before) || (freePorts(state).get(after.id) ?? 0);
  return port === chosen ? [] : [{ change: after, derived: { listen_port: port } }];
}

function heldPort(before: Stored<'ProxyService'> | undefined): number {
  return before === undefined ? 0 : portOf(before);
}

const freePortCache = new WeakMap<State, ReadonlyMap<string, number>>();

/**
 * Returns a free port for each service that needs one. All services of a state are served at once, so that no port is
 * given twice.
 */
function freePorts(state: State): ReadonlyMap<string, number> {
  const present = freePortCache.get(state);
  if (present !== undefined) return present;
  const services = state.ofKind('ProxyService');
  const taken = new Set(services.map(portOf));
  const free = new Map<string, number>();
  let port = firstPort;
  for (const service of services) {
    if (service.spec.mode === 'http' || portOf(service) !== 0) continue;
    while (taken.has(port) && port <= lastPort) port += 1;
    if (port > lastPort) break;
    free.set(service.id, port);
    port += 1;
  }
  freePortCache.set(state, free);
  return free;
}
