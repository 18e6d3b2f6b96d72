import { createHash } from 'node:crypto';

/** What every text that a key of a peer signs begins with, so that it means nothing anywhere else. */
const proofScheme = 'heddle-agent-v1';

/** What a proof says. */
export interface ProofClaims {
  /** The public key that signs: Ed25519, 32 bytes in base64url. */
  readonly key: string;
  /** ISO 8601. */
  readonly time: string;
  /** Never used before by this key: 16 random bytes in base64url. */
  readonly nonce: string;
}

/** A request that a proof is about. */
export interface ProvenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** The bytes of the body; empty for none. */
  readonly body: Uint8Array;
}

/** The text that a proof signs: who asks, when, and for what. */
export function proofText({ key, time, nonce }: ProofClaims, { method, path, body }: ProvenRequest): string {
  const digest = createHash('sha256').update(body).digest('base64url');
  return [proofScheme, 'request', method, path, key, time, nonce, digest].join('\n');
}

/** The text whose keyed hash proves that a machine holds the key of a tunnel. */
export function tunnelText(challenge: string, signingKey: string): string {
  return [proofScheme, 'tunnel', challenge, signingKey].join('\n');
}

/** The text that the key of a certificate signs, to show that it is on the machine of this peer. */
export function certificateText(signingKey: string): string {
  return [proofScheme, 'certificate', signingKey].join('\n');
}

/** Writes the header of a proof. */
export function writeProof({ key, time, nonce }: ProofClaims, signature: string): string {
  return `key=${key}, time=${time}, nonce=${nonce}, signature=${signature}`;
}
