import type { Engine } from '../../commit/engine.ts';
import {
  explainLeaseLoss,
  type Lease,
  type LeaseLoss,
  releaseLease,
  renewLease,
  revokeLease,
  takeLease,
} from '../../db/leases/leases.ts';

/** Right of this server to run a source. Once it is lost, changes that this server makes for the source are refused. */
export type SourceLease = Lease;

/**
 * Takes the lease of a source. Returns `undefined` while another server has it, and when the account does not exist any
 * more.
 */
export async function takeSourceLease(
  engine: Engine,
  request: { readonly account: string; readonly source: string; readonly owner: string; readonly seconds: number },
): Promise<SourceLease | undefined> {
  const { account, source, owner, seconds } = request;
  return takeLease(engine.database, { account, name: `source/${source}`, owner, seconds });
}

/** Renews the lease for `seconds` from now. Returns whether this server still had it. */
export async function renewSourceLease(engine: Engine, lease: SourceLease, seconds: number): Promise<boolean> {
  return renewLease(engine.database, lease, seconds);
}

/** Renews leases outside of the main thread, which may be busy for longer than they last. */
export interface SourceLeaseKeeper {
  hold(lease: SourceLease, seconds: number): void;
  release(lease: SourceLease): void;
}

/** Returns a sentence about why a lease could not be kept, and what follows. */
export async function explainLostLease(engine: Engine, lease: SourceLease): Promise<string> {
  return describeLostLease(await explainLeaseLoss(engine.database, lease));
}

function describeLostLease(lost: LeaseLoss): string {
  switch (lost.state) {
    case 'over':
      return `its lease expired ${Math.round(lost.seconds)} s ago, because this server did not renew it in time (it was stopped or had no CPU time, or the database was unreachable); no other server has taken it, and the next holder continues`;
    case 'taken':
      return `its lease was taken by another server (${lost.owner}), which continues`;
    case 'revoked':
      return 'its lease was revoked, because the source was changed; the next holder continues with what is recorded now';
    case 'gone':
      return 'its lease was deleted with its account';
  }
}

/** Releases the lease, so that another server takes over at once. */
export async function releaseSourceLease(engine: Engine, lease: SourceLease): Promise<void> {
  await releaseLease(engine.database, lease);
  engine.notices.publish({ what: 'sources', account: lease.account });
}

/** Revokes the lease of the server that runs a source. Changes that this server is about to make are refused. */
export async function revokeSourceLease(engine: Engine, account: string, source: string): Promise<void> {
  await revokeLease(engine.database, account, `source/${source}`);
}
