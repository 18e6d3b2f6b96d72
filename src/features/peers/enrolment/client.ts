import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../lib/json.ts';
import { tunnelSpelling } from '../../../lib/public-key.ts';
import { type KeyPair, makeKeyPair, readPrivateKey, sharedHash, signText } from './keys.ts';
import { proofText, tunnelText, writeProof } from './proof-text.ts';

/** The keys of one machine. */
export interface MachineKeys {
  readonly signing: KeyPair;
  readonly tunnel: KeyPair;
}

/** Makes the keys of a machine. */
export function makeMachineKeys(): MachineKeys {
  return { signing: makeKeyPair('Ed25519'), tunnel: makeKeyPair('X25519') };
}

/** The public key of the tunnel as tunnels write it. */
export function tunnelKeyOf({ tunnel }: MachineKeys): string {
  return tunnelSpelling(tunnel.publicKey);
}

/** The header that proves a request; the time and the nonce are those of this moment unless given. */
export function proofFor(
  { signing }: MachineKeys,
  request: { readonly method: string; readonly path: string; readonly body?: string },
  { time = new Date().toISOString(), nonce = randomBytes(16).toString('base64url') } = {},
): string {
  const claims = { key: signing.publicKey, time, nonce };
  const body = Buffer.from(request.body ?? '');
  return writeProof(claims, signText(proofText(claims, { ...request, body }), signing));
}

/** The answer to a challenge. Throws when the server sent no key. */
export function answerTo(
  keys: MachineKeys,
  { challenge, public_key }: { readonly challenge: string; readonly public_key: string },
): JsonObject {
  const mac = sharedHash(
    tunnelText(challenge, keys.signing.publicKey),
    readPrivateKey('X25519', keys.tunnel),
    public_key,
  );
  if (mac === undefined) throw new Error('the challenge of the server carries no key that can be answered');
  return { challenge, mac };
}
