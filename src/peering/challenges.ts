import { Unauthenticated } from '../model/errors.ts';
import type { Means } from '../model/means.ts';
import { equalHash, makeKeyPair, sharedHash } from './keys.ts';
import { tunnelText } from './proof-text.ts';
import { openValue, sealValue } from './sealed.ts';

const prefix = 'nbc_';
const lifetimeMs = 120_000;

/** What somebody answers who wants to show that they hold the key of a tunnel. */
export interface Challenge {
  readonly challenge: string;
  /** X25519, raw, base64url: made for this challenge alone. */
  readonly public_key: string;
  readonly server_time: string;
  readonly expires_at: string;
}

/** Makes a challenge. Nothing is kept: it carries, sealed, all that is needed to check the answer. */
export function makeChallenge({ vault }: Means, now: number): Challenge {
  const pair = makeKeyPair('X25519');
  const expires_at = new Date(now + lifetimeMs).toISOString();
  return {
    challenge: sealValue(vault, prefix, { ...pair, until: expires_at }),
    public_key: pair.publicKey,
    server_time: new Date(now).toISOString(),
    expires_at,
  };
}

/** An answer to a challenge. */
export interface TunnelProof {
  readonly challenge: string;
  /** The hash of `tunnelText` under the secret that both keys share. */
  readonly mac: string;
}

/** Checks that whoever signs with one key also holds the key of this tunnel. Throws `Unauthenticated`. */
export function checkTunnel(
  { vault }: Means,
  { challenge, mac }: TunnelProof,
  keys: { readonly tunnel: string; readonly signing: string },
  now: number,
): void {
  const made = openValue(vault, prefix, challenge);
  if (made === undefined) throw new Unauthenticated('the challenge is not one of this server; ask for a new one');
  if (Date.parse(String(made['until'])) < now)
    throw new Unauthenticated(
      `the challenge ended at ${String(made['until'])}, and it is ${new Date(now).toISOString()}; ask for a new one`,
    );
  const pair = { publicKey: String(made['publicKey']), privateKey: String(made['privateKey']) };
  const expected = sharedHash(tunnelText(challenge, keys.signing), pair, keys.tunnel);
  if (expected === undefined || !equalHash(expected, mac))
    throw new Unauthenticated('the answer to the challenge does not fit the key of the tunnel');
}
