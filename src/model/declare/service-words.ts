/** What a service of a proxy forwards: requests, or connections as they are. */
export const serviceModes = ['http', 'tcp', 'udp', 'tls'] as const;

/** One of them. */
export type ServiceMode = (typeof serviceModes)[number];

/** How a service of a proxy fares. */
export const serviceStatuses = [
  ...(['pending', 'active', 'tunnel_not_created', 'certificate_pending', 'certificate_failed', 'error'] as const),
] as const;

const usualPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
]);

/** The port of a backend that gives 0, by its protocol. */
export function usualPort(protocol: string): number | undefined {
  return usualPorts.get(protocol);
}
