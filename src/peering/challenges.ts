import type { KeyObject } from 'node:crypto';
import { Unauthenticated } from '../model/errors.ts';
import type { Means } from '../model/means.ts';
import { equalHash, type KeyPair, makeKeyPair, readPrivateKey, sharedHash } from './keys.ts';
import { tunnelText } from './proof-text.ts';
import { openValue, sealValue } from './sealed.ts';

const prefix = 'nbc_';
const lifetimeMs = 120_000;
/** How long challenges are made with one key. */
const keyMs = 60_000;
/** How many keys are remembered as they are used: those of this server, and the newest of others. */
const mostKeys = 16;

/** What somebody answers who wants to show that they hold the key of a tunnel. */
export interface Challenge {
  readonly challenge: string;
  /** X25519, raw, base64url: made for the challenges of a minute. */
  readonly public_key: string;
  readonly server_time: string;
  readonly expires_at: string;
}

/** An answer to a challenge. */
export interface TunnelProof {
  readonly challenge: string;
  /** The hash of `tunnelText` under the secret that both keys share. */
  readonly mac: string;
}

/** Makes challenges and checks answers, to those of other servers of the installation too. */
export interface Challenges {
  /** Nothing is kept: a challenge carries, sealed, all that is needed to check the answer. */
  make(now: number): Challenge;
  /** Checks that whoever signs with one key also holds the key of this tunnel. Throws `Unauthenticated`. */
  check(proof: TunnelProof, keys: { readonly tunnel: string; readonly signing: string }, now: number): void;
}

/** Creates them. Very many machines may come at once, and to make and to read keys is most of the work. */
export function createChallenges({ vault }: Means): Challenges {
  const read = new Map<string, KeyObject>();
  let current: { readonly pair: KeyPair; readonly until: number } | undefined;
  const keyOf = (pair: KeyPair): KeyObject => {
    const key = read.get(pair.publicKey) ?? readPrivateKey('X25519', pair);
    read.set(pair.publicKey, key);
    if (read.size > mostKeys) read.delete(read.keys().next().value ?? '');
    return key;
  };
  return {
    make(now) {
      if (current === undefined || current.until <= now) current = { pair: makeKeyPair('X25519'), until: now + keyMs };
      const { pair } = current;
      const expires_at = new Date(now + lifetimeMs).toISOString();
      return {
        challenge: sealValue(vault, prefix, { ...pair, until: expires_at }),
        public_key: pair.publicKey,
        server_time: new Date(now).toISOString(),
        expires_at,
      };
    },
    check({ challenge, mac }, keys, now) {
      const made = openValue(vault, prefix, challenge);
      if (made === undefined) throw new Unauthenticated('the challenge is not one of this server; ask for a new one');
      if (Date.parse(String(made['until'])) < now)
        throw new Unauthenticated(
          `the challenge ended at ${String(made['until'])}, and it is ${new Date(now).toISOString()}; ask for a new one`,
        );
      const pair = { publicKey: String(made['publicKey']), privateKey: String(made['privateKey']) };
      const expected = sharedHash(tunnelText(challenge, keys.signing), keyOf(pair), keys.tunnel);
      if (expected === undefined || !equalHash(expected, mac))
        throw new Unauthenticated('the answer to the challenge does not fit the key of the tunnel');
    },
  };
}
