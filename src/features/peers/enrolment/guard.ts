import { createBatcher } from '../../../commit/batcher.ts';
import { type FoundEntry, findEntries } from '../../../db/accounts/find-entries.ts';
import type { Database } from '../../../db/database.ts';
import { type NonceLifetime, useNonces } from '../../../db/peers/agent-nonces.ts';
import { Unauthenticated } from '../../../model/errors.ts';
import type { Proof } from './proof.ts';

/** Protects accounts against requests of strangers. Many at once cost few queries. */
export interface Guard {
  /** What the directory says about a value. */
  find(kind: string, value: string): Promise<FoundEntry | undefined>;
  /** Uses a proof up. Throws `Unauthenticated` for one that was used before, on whatever server. */
  use(account: string, proof: Proof): Promise<void>;
  /** The same for a proof whose use is only acknowledged behind a commit: the store need not wait for its disk twice. */
  useBefore(account: string, proof: Proof): Promise<void>;
}

/** Creates the guard. */
export function createGuard(database: Database): Guard {
  const find = createBatcher<string, string, FoundEntry | undefined>(async (kind, values) => {
    const found = await findEntries(database, kind, values);
    return (value) => found.get(value);
  });
  const claimBy = (lifetime: NonceLifetime) => {
    const claim = createBatcher<string, Proof, boolean>(async (account, proofs) => {
      const nonces = proofs.map((proof) => ({ nonce: nameOf(proof), expires: proof.expires }));
      // What comes twice among these is fresh once.
      const fresh = new Set(await useNonces(database, account, nonces, lifetime));
      return (proof) => fresh.delete(nameOf(proof));
    });
    return async (account: string, proof: Proof): Promise<void> => {
      if (await claim(account, proof)) return;
      throw new Unauthenticated('the proof was used before; sign every request anew, with a nonce of its own');
    };
  };
  return { find, use: claimBy('lasting'), useBefore: claimBy('before a commit') };
}

function nameOf({ key, nonce }: Proof): string {
  return `${key}.${nonce}`;
}
