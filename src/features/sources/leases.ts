import type { Engine } from '../../commit/engine.ts';
import {
  explainLost,
  type Lease,
  type LostLease,
  releaseLease,
  renewLease,
  revokeLease,
  takeLease,
} from '../../db/leases/leases.ts';

/** The right of this server to run a source; changes on its behalf are refused once it is lost. */
export type SourceLease = Lease;

/** Takes the lease of a source. `undefined` while another server has it, and when the account is gone. */
export async function takeSource(
  engine: Engine,
  request: { readonly account: string; readonly source: string; readonly owner: string; readonly seconds: number },
): Promise<SourceLease | undefined> {
  const { account, source, owner, seconds } = request;
  return takeLease(engine.database, { account, name: `source/${source}`, owner, seconds });
}

/** Keeps it for so long from now. Returns whether it was still held. */
export async function keepSource(engine: Engine, lease: SourceLease, seconds: number): Promise<boolean> {
  return renewLease(engine.database, lease, seconds);
}

/** Renews leases beside the main thread, which may be busy for longer than they last. */
export interface SourceLeaseKeeper {
  hold(lease: SourceLease, seconds: number): void;
  letGo(lease: SourceLease): void;
}

/** Says in a sentence why a lease could not be kept, and what follows. */
export async function explainLostSource(engine: Engine, lease: SourceLease): Promise<string> {
  return sentenceOf(await explainLost(engine.database, lease));
}

function sentenceOf(lost: LostLease): string {
  switch (lost.state) {
    case 'over':
      return `its lease ran out ${Math.round(lost.seconds)} s ago, because this server did not renew it in time (it was stopped or had no processor, or the database was away); no other server has taken it, and the first to take it goes on`;
    case 'taken':
      return `its lease was taken by another server (${lost.owner}), which goes on`;
    case 'revoked':
      return 'its lease was taken away, because the source was changed; its next holder goes on with what is recorded now';
    case 'gone':
      return 'its lease is gone, and so is its account';
  }
}

/** Gives it back, so that another server takes over at once. */
export async function giveSourceBack(engine: Engine, lease: SourceLease): Promise<void> {
  await releaseLease(engine.database, lease);
  engine.notices.publish({ what: 'sources', account: lease.account });
}

/** Takes a source away from whichever server runs it: what that one is about to change is refused. */
export async function revokeSource(engine: Engine, account: string, source: string): Promise<void> {
  await revokeLease(engine.database, account, `source/${source}`);
}
