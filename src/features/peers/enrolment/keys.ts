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

/** The two kinds of keys that a peer has. */
export type Curve = 'Ed25519' | 'X25519';

/** A key pair, both halves raw in base64url. */
export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Makes a key pair. */
export function makeKeyPair(curve: Curve): KeyPair {
  // Node has one overload for each curve.
  const { privateKey } = curve === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
  return { publicKey: x, privateKey: d };
}

/** The private half of a pair as it is used; to read it costs as much as to use it. */
export function readPrivateKey(crv: Curve, pair: KeyPair): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv, x: pair.publicKey, d: pair.privateKey }, format: 'jwk' });
}

/** The signature of a text, base64url. */
export function signText(text: string, pair: KeyPair): string {
  return sign(null, Buffer.from(text), readPrivateKey('Ed25519', pair)).toString('base64url');
}

/** Whether this key signed the text. */
export function isSigned(text: string, key: string, signature: string): boolean {
  return verify(null, Buffer.from(text), publicKey('Ed25519', key), Buffer.from(signature, 'base64url'));
}

/** The hash of a text under the secret that two X25519 keys share, base64url; `undefined` for a key that shares none. */
export function sharedHash(text: string, own: KeyObject, other: string): string | undefined {
  try {
    const secret = diffieHellman({ privateKey: own, publicKey: publicKey('X25519', other) });
    return createHmac('sha256', createSecretKey(secret)).update(text).digest('base64url');
  } catch {
    // A key of low order, which no tunnel has: OpenSSL refuses it.
    return undefined;
  }
}

/** Whether two hashes are equal, in a time that does not depend on them. */
export function equalHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** What comes before the 32 bytes of a public key in DER, as base64. */
const derHeads: Readonly<Record<Curve, string>> = { Ed25519: 'MCowBQYDK2VwAyEA', X25519: 'MCowBQYDK2VuAyEA' };

/** As PEM a key is read in 8 µs, as JWK in 30. */
function publicKey(curve: Curve, key: string): KeyObject {
  const base64 = Buffer.from(key, 'base64url').toString('base64');
  return createPublicKey(`-----BEGIN PUBLIC KEY-----\n${derHeads[curve]}${base64}\n-----END PUBLIC KEY-----\n`);
}
