import type { KeyObject } from 'node:crypto';
import type { PlanEnvironment } from '../../../model/declare/plan-environment.ts';
import { Unauthenticated } from '../../../model/errors.ts';
import type { Vault } from '../../../model/schema/sealing.ts';
import { isEqualHash, type KeyPair, makeKeyPair, readPrivateKey, sharedHash } from './keys.ts';
import { tunnelText } from './proof-text.ts';
import { openValue, type SealedTextType, sealValue } from './sealed.ts';

const sealedTextType: SealedTextType = { prefix: 'nbc_', purpose: 'challenge' };
const lifetimeMs = 120_000;
/** Time for which challenges are made with one key pair, in milliseconds. */
const keyPairLifetimeMs = 60_000;
/** Maximum number of opened challenges that are cached for checking answers. */
const maxOpenedChallenges = 16;

/** A challenge. A machine proves by its answer that it holds the private key of a tunnel. */
export interface Challenge {
  readonly challenge: string;
  /** X25519 public key, raw in base64url. The challenges of one minute share it. */
  readonly public_key: string;
  readonly server_time: string;
  readonly expires_at: string;
}

/** An answer to a challenge. */
export interface TunnelProof {
  readonly challenge: string;
  /** Keyed hash of `tunnelText`. Its key is the secret that the keys of the challenge and of the tunnel share. */
  readonly mac: string;
}

/** Makes challenges and checks answers, also those to challenges of other servers of the installation. */
export interface Challenges {
  /**
   * Makes a challenge. The server stores nothing: the challenge itself contains, sealed, everything that is needed to
   * check the answer.
   */
  make(now: number): Challenge;
  /** Checks that the holder of the signing key also holds the private key of the tunnel. Throws `Unauthenticated`. */
  check(proof: TunnelProof, keys: { readonly tunnel: string; readonly signing: string }, now: number): void;
}

/** Content of a challenge. */
interface Opened {
  readonly until: string;
  readonly key: KeyObject;
}

/**
 * Creates the maker of challenges. Very many machines may enrol at the same time, and most of the work is making,
 * sealing and reading keys. So all challenges of one second are the same, and the challenges of one minute share a key
 * pair.
 */
export function createChallenges({ vault }: PlanEnvironment): Challenges {
  const opened = new Map<string, Opened>();
  let own: { readonly pair: KeyPair; readonly until: number } | undefined;
  let last: Omit<Challenge, 'server_time'> | undefined;
  const openOnce = (challenge: string): Opened | undefined => {
    const found = opened.get(challenge) ?? open(vault, challenge);
    if (found !== undefined) opened.set(challenge, found);
    if (opened.size > maxOpenedChallenges) opened.delete(opened.keys().next().value ?? '');
    return found;
  };
  return {
    make(now) {
      if (own === undefined || own.until <= now) own = { pair: makeKeyPair('X25519'), until: now + keyPairLifetimeMs };
      const expires_at = new Date(Math.floor(now / 1000) * 1000 + lifetimeMs).toISOString();
      if (last?.expires_at !== expires_at || last.public_key !== own.pair.publicKey) {
        const challenge = sealValue(vault, sealedTextType, { ...own.pair, until: expires_at });
        last = { challenge, public_key: own.pair.publicKey, expires_at };
      }
      return { ...last, server_time: new Date(now).toISOString() };
    },
    check({ challenge, mac }, keys, now) {
      const made = openOnce(challenge);
      if (made === undefined)
        throw new Unauthenticated('the challenge was not issued by this server; request a new one');
      if (Date.parse(made.until) < now)
        throw new Unauthenticated(
          `the challenge expired at ${made.until}, and it is now ${new Date(now).toISOString()}; request a new one`,
        );
      const expected = sharedHash(tunnelText(challenge, keys.signing), made.key, keys.tunnel);
      if (expected === undefined || !isEqualHash(expected, mac))
        throw new Unauthenticated('the answer to the challenge does not match the tunnel key');
    },
  };
}

function open(vault: Vault, challenge: string): Opened | undefined {
  const made = openValue(vault, sealedTextType, challenge);
  if (made === undefined) return undefined;
  const pair = { publicKey: String(made['publicKey']), privateKey: String(made['privateKey']) };
  return { until: String(made['until']), key: readPrivateKey('X25519', pair) };
}
