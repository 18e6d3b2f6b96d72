import { createHash } from 'node:crypto';

/** First line of every text that a key of a peer signs. It makes the signature useless for any other purpose. */
const proofScheme = 'heddle-agent-v1';

/** Claims of a proof. */
export interface ProofClaims {
  /** Public key of the signature: Ed25519, 32 bytes in base64url. */
  readonly key: string;
  /** ISO 8601. */
  readonly time: string;
  /** Value that the key has not used before: 16 random bytes in base64url. */
  readonly nonce: string;
}

/** The request that a proof is about. */
export interface ProvenRequest {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  /** Bytes of the body, empty when there is none. */
  readonly body: Uint8Array;
}

/** Returns the text that a proof signs. It covers the key, the time, the nonce and the request. */
export function proofText({ key, time, nonce }: ProofClaims, { method, path, body }: ProvenRequest): string {
  const digest = createHash('sha256').update(body).digest('base64url');
  return [proofScheme, 'request', method, path, key, time, nonce, digest].join('\n');
}

/** Returns the text whose keyed hash proves that a machine holds the private key of a tunnel. */
export function tunnelText(challenge: string, signingKey: string): string {
  return [proofScheme, 'tunnel', challenge, signingKey].join('\n');
}

/**
 * Returns the text that the key of a certificate signs. The signature proves that the key is on the machine of this
 * peer.
 */
export function certificateText(signingKey: string): string {
  return [proofScheme, 'certificate', signingKey].join('\n');
}

/** Returns the header of a proof. */
export function writeProof({ key, time, nonce }: ProofClaims, signature: string): string {
  return `key=${key}, time=${time}, nonce=${nonce}, signature=${signature}`;
}
