import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../lib/json.ts';
import { toStandardBase64 } from '../../../lib/public-key.ts';
import { type KeyPair, makeKeyPair, readPrivateKey, sharedHash, signText } from './keys.ts';
import { proofText, tunnelText, writeProof } from './proof-text.ts';

/** The keys of one machine. */
export interface MachineKeys {
  readonly signing: KeyPair;
  readonly tunnel: KeyPair;
}

/** Makes the key pairs of a machine. */
export function makeMachineKeys(): MachineKeys {
  return { signing: makeKeyPair('Ed25519'), tunnel: makeKeyPair('X25519') };
}

/** Returns the public key of the tunnel in the spelling of WireGuard (base64). */
export function tunnelKeyOf({ tunnel }: MachineKeys): string {
  return toStandardBase64(tunnel.publicKey);
}

/** Returns the header with the proof of a request. By default, it has the current time and a new nonce. */
export function proofFor(
  { signing }: MachineKeys,
  request: { readonly method: string; readonly path: string; readonly body?: string },
  { time = new Date().toISOString(), nonce = randomBytes(16).toString('base64url') } = {},
): string {
  const claims = { key: signing.publicKey, time, nonce };
  const body = Buffer.from(request.body ?? '');
  return writeProof(claims, signText(proofText(claims, { ...request, body }), signing));
}

/** Returns the answer to a challenge. Throws when the challenge contains no usable key. */
export function answerChallenge(
  keys: MachineKeys,
  { challenge, public_key }: { readonly challenge: string; readonly public_key: string },
): JsonObject {
  const mac = sharedHash(
    tunnelText(challenge, keys.signing.publicKey),
    readPrivateKey('X25519', keys.tunnel),
    public_key,
  );
  if (mac === undefined) throw new Error('the challenge of the server contains no usable key');
  return { challenge, mac };
}
