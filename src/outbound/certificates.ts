import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** Certificates with which the certificates of hosts are checked. */
export interface Trust {
  /** Absent: the authorities that this machine trusts are used. */
  readonly secureContext?: SecureContext;
}

/**
 * Trusts these authorities (PEM) in addition to those that this machine trusts. They are parsed once, and not for each
 * connection.
 */
export function trustAuthorities(authorities: string | undefined): Trust {
  if (authorities === undefined) return {};
  return { secureContext: createSecureContext({ ca: [...getCACertificates('default'), authorities] }) };
}

const distrusted: ReadonlySet<string> = new Set([
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_UNTRUSTED', 'CERT_SIGNATURE_FAILURE'],
]);

/**
 * Returns what is wrong with a host's certificate, from the code of an error, as text that follows the host's name.
 * Returns `undefined` for other errors.
 */
export function certificateFault(code: string | undefined): string | undefined {
  if (code === undefined) return undefined;
  if (distrusted.has(code))
    return `has a certificate from an authority that this server does not trust (${code}); the operator can add the authority with HEDDLE_OUTBOUND_CA`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `has a certificate for another host (${code}); check the name`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `has a certificate that is not valid at this time (${code})`;
  return undefined;
}
