import type { Stored } from '../../model/state/stored.ts';

/** Returns the port on which the cluster listens for a service, 0 for a service without one. */
export function portOf(service: Stored<'ProxyService'>): number {
  if (service.spec.mode === 'http') return 0;
  return Number(service.spec.listen_port) || chosenPort(service);
}

/** Returns the port that the server chose, 0 when it chose none. */
export function chosenPort({ derived }: Stored<'ProxyService'>): number {
  return derived.listen_port ?? 0;
}
