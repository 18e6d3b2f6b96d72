/** Modes of a proxy service: `http` forwards requests, the others forward connections unchanged. */
export const serviceModes = ['http', 'tcp', 'udp', 'tls'] as const;

/** Mode of a proxy service. */
export type ServiceMode = (typeof serviceModes)[number];

/** States of a proxy service. */
export const serviceStatuses = [
  ...(['pending', 'active', 'tunnel_not_created', 'certificate_pending', 'certificate_failed', 'error'] as const),
] as const;

const defaultPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
]);

/** Returns the default port of a protocol, for a backend whose port is 0. */
export function defaultPort(protocol: string): number | undefined {
  return defaultPorts.get(protocol);
}

/** States of the ownership proof of a custom domain. */
export const domainStates = ['pending', 'validated', 'lapsed'] as const;

/** State of the ownership proof of a custom domain. */
export type DomainState = (typeof domainStates)[number];

/** Returns the name of the TXT record that proves ownership of a custom domain. */
export function proofNameOf(domain: string): string {
  return `${proofLabel}.${domain}`;
}

const proofLabel = '_heddle-domain';

/** Maximum length of a custom domain, in characters, so that the name of its proof record is also a valid name. */
export const maxCustomDomainLength = 253 - proofLabel.length - 1;
