import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';

/** Curves of the two keys of a peer. */
export type Curve = 'Ed25519' | 'X25519';

/** A key pair. Both keys are raw in base64url. */
export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Generates a key pair. */
export function makeKeyPair(curve: Curve): KeyPair {
  // Node declares a separate overload for each curve.
  const { privateKey } = curve === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
  return { publicKey: x, privateKey: d };
}

/** Imports the private key of a pair. The import costs as much as one use of the key. */
export function readPrivateKey(crv: Curve, pair: KeyPair): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv, x: pair.publicKey, d: pair.privateKey }, format: 'jwk' });
}

/** Returns the signature of a text, in base64url. */
export function signText(text: string, pair: KeyPair): string {
  return sign(null, Buffer.from(text), readPrivateKey('Ed25519', pair)).toString('base64url');
}

/** Returns whether this key signed the text. */
export function isSigned(text: string, key: string, signature: string): boolean {
  return verify(null, Buffer.from(text), importPublicKey('Ed25519', key), Buffer.from(signature, 'base64url'));
}

/**
 * Returns the hash of a text under the secret that two X25519 keys share, in base64url. `undefined` for a key without a
 * shared secret.
 */
export function sharedHash(text: string, own: KeyObject, other: string): string | undefined {
  try {
    const secret = diffieHellman({ privateKey: own, publicKey: importPublicKey('X25519', other) });
    return createHmac('sha256', createSecretKey(secret)).update(text).digest('base64url');
  } catch {
    // OpenSSL refuses keys of low order, which no tunnel has.
    return undefined;
  }
}

/** Returns whether two hashes are equal, in constant time. */
export function isEqualHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** DER prefix of the 32 bytes of a public key, in base64. */
const derHeads: Readonly<Record<Curve, string>> = { Ed25519: 'MCowBQYDK2VwAyEA', X25519: 'MCowBQYDK2VuAyEA' };

/** Imports a public key. The import takes 8 µs from PEM, and 30 µs from JWK. */
function importPublicKey(curve: Curve, key: string): KeyObject {
  const base64 = Buffer.from(key, 'base64url').toString('base64');
  return createPublicKey(`-----BEGIN PUBLIC KEY-----\n${derHeads[curve]}${base64}\n-----END PUBLIC KEY-----\n`);
}
