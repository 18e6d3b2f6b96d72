import { createBatcher } from '../../../commit/batcher.ts';
import { type FoundEntry, findEntries } from '../../../db/accounts/find-entries.ts';
import type { Database } from '../../../db/database.ts';
import { type NonceLifetime, useNonces } from '../../../db/peers/agent-nonces.ts';
import { Unauthenticated } from '../../../model/errors.ts';
import type { Proof } from './proof.ts';

/** Protects accounts against requests of strangers. Concurrent requests share queries. */
export interface AgentGuard {
  /** Returns the directory entry of a value, `undefined` when there is none. */
  findEntry(kind: string, value: string): Promise<FoundEntry | undefined>;
  /** Marks a proof as used. Throws `Unauthenticated` when it was used before, on any server. */
  useNonce(account: string, proof: Proof): Promise<void>;
  /**
   * Does the same as `useNonce` for a proof of a request that is only answered after a commit. The nonce reaches the
   * disk with that commit, so there is no second wait for the disk.
   */
  useNonceBeforeCommit(account: string, proof: Proof): Promise<void>;
}

/** Creates the guard. */
export function createAgentGuard(database: Database): AgentGuard {
  const find = createBatcher<string, string, FoundEntry | undefined>(async (kind, values) => {
    const found = await findEntries(database, kind, values);
    return (value) => found.get(value);
  });
  const claimBy = (lifetime: NonceLifetime) => {
    const claim = createBatcher<string, Proof, boolean>(async (account, proofs) => {
      const nonces = proofs.map((proof) => ({ nonce: nameOf(proof), expires: proof.expires }));
      // A nonce that occurs twice in a batch is fresh only once.
      const fresh = new Set(await useNonces(database, account, nonces, lifetime));
      return (proof) => fresh.delete(nameOf(proof));
    });
    return async (account: string, proof: Proof): Promise<void> => {
      if (await claim(account, proof)) return;
      throw new Unauthenticated('the proof was used before; sign every request with a new nonce');
    };
  };
  return { findEntry: find, useNonce: claimBy('lasting'), useNonceBeforeCommit: claimBy('before a commit') };
}

function nameOf({ key, nonce }: Proof): string {
  return `${key}.${nonce}`;
}
