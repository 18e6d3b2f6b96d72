import type { Engine } from '../../../commit/engine.ts';
import type { Resealer } from '../../../db/sealing/reseal.ts';
import { type ResealResult, resealAll } from '../../../db/sealing/rotate.ts';
import { beginSealing } from '../../../db/sealing/sealing.ts';
import { Conflict, Internal } from '../../../model/errors.ts';

/** Options of sealing the secrets again. */
export interface RotateOptions {
  /**
   * Whether secrets in the unbound form of an earlier release are accepted although that form is refused by now. Needed
   * when a server of that release ran too long.
   */
  readonly acceptUnbound: boolean;
}

/**
 * Seals all secrets of the server again, under its current key and bound to their contexts. Afterwards older keys are
 * not needed any more, and servers of earlier releases cannot run on this database. Secrets that do not open stay
 * unchanged and are reported.
 */
export async function rotateSecrets(engine: Engine, { acceptUnbound }: RotateOptions): Promise<ResealResult> {
  const { database, registry, planEnvironment, notices } = engine;
  // Other servers must seal in the bound form before the search for the last unbound text.
  await beginSealing(database);
  planEnvironment.vault.advance('binding');
  notices.publish({ what: 'sealing' });
  // Running mutations were planned with the old sealed texts, so wait for them.
  await engine.committer.settle();
  const sealer: Resealer = { registry, vault: planEnvironment.vault, form: 'bound', acceptUnbound };
  const resealed = await resealAll(database, sealer).catch((error: unknown) => {
    // `Conflict` shows the reason to the operator, the only person who can fix it.
    throw error instanceof Internal
      ? new Conflict('precondition', `no secret was sealed again: ${error.message}`)
      : error;
  });
  planEnvironment.vault.advance('bound');
  // Other servers notice the new revision. This server drops its cached states at once.
  engine.snapshots.clear();
  engine.pastStates.clear();
  notices.publish({ what: 'sealing' });
  for (const secret of resealed.unreadable) engine.observer.report({ what: 'unreadable', secret });
  return resealed;
}
