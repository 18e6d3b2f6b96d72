import { verify, X509Certificate } from 'node:crypto';
import { certificateText } from './proof-text.ts';

/** A certificate that a peer claims to hold: in PEM, behind it those that lead to an authority, and a signature by its key. */
export interface CertificateClaim {
  readonly chain: readonly string[];
  /** Of `certificateText`, base64. */
  readonly signature: string;
}

/** What is wrong with the claim, `undefined` when it holds. */
export function checkCertificate({ chain, signature }: CertificateClaim, key: string, now: number): string | undefined {
  const read = chain.map(readCertificate);
  const [leaf] = read;
  if (leaf === undefined || read.includes(undefined)) return 'the chain must be X.509 certificates in PEM';
  if (leaf.validFromDate.getTime() > now) return `the certificate is valid from ${leaf.validFromDate.toISOString()}`;
  if (leaf.validToDate.getTime() < now) return `the certificate was valid until ${leaf.validToDate.toISOString()}`;
  if (!isHeld(leaf, key, signature)) return 'the signature is not by the key of the certificate';
  return undefined;
}

function readCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    // The constructor has no other way to say that the text is no certificate.
    return undefined;
  }
}

function isHeld({ publicKey }: X509Certificate, key: string, signature: string): boolean {
  const digest = ['ed25519', 'ed448'].includes(publicKey.asymmetricKeyType ?? '') ? null : 'sha256';
  try {
    return verify(digest, Buffer.from(certificateText(key)), publicKey, Buffer.from(signature, 'base64'));
  } catch {
    // A key that cannot sign.
    return false;
  }
}
