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

/** How the proof of a custom domain stands. */
export const domainStates = ['pending', 'validated', 'lapsed'] as const;

/** One of them. */
export type DomainState = (typeof domainStates)[number];

/** Where the text stands that proves a custom domain. */
export function proofNameOf(domain: string): string {
  return `${proofLabel}.${domain}`;
}

const proofLabel = '_heddle-domain';

/** How long a custom domain may be, so that the name of its proof is one too. */
export const longestCustomDomain = 253 - proofLabel.length - 1;
