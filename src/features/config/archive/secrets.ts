import type { Engine } from '../../../commit/engine.ts';
import type { Sealer } from '../../../db/sealing/reseal.ts';
import { type Resealed, sealAgain } from '../../../db/sealing/rotate.ts';
import { beginSealing } from '../../../db/sealing/sealing.ts';
import { Conflict, Internal } from '../../../model/errors.ts';

/** How secrets are sealed again. */
export interface RotateOptions {
  /** Takes what is in the form of an earlier release although that is refused since: one of its servers ran too long. */
  readonly acceptUnbound: boolean;
}

/**
 * Seals all secrets of the server again under its current key and for their places; afterwards older keys are not needed any
 * more, and servers of earlier releases cannot take part. What does not open stays as it is and is named.
 */
export async function rotateSecrets(engine: Engine, { acceptUnbound }: RotateOptions): Promise<Resealed> {
  const { database, registry, planEnvironment, notices } = engine;
  // Others seal to places before the last unbound text is looked for.
  await beginSealing(database);
  planEnvironment.vault.advance('binding');
  notices.publish({ what: 'sealing' });
  // Plans under way were made of the old seals.
  await engine.committer.settle();
  const sealer: Sealer = { registry, vault: planEnvironment.vault, form: 'bound', acceptUnbound };
  const resealed = await sealAgain(database, sealer).catch((error: unknown) => {
    // The reason is shown to the operator, who alone can remove it.
    throw error instanceof Internal
      ? new Conflict('precondition', `no secret was sealed again: ${error.message}`)
      : error;
  });
  planEnvironment.vault.advance('bound');
  // Other servers notice by the revision; this one need not wait for it.
  engine.snapshots.forget();
  engine.past.forget();
  notices.publish({ what: 'sealing' });
  for (const secret of resealed.unreadable) engine.observer.report({ what: 'unreadable', secret });
  return resealed;
}
