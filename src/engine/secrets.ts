import { sealAgain } from '../store/rotate.ts';
import type { Engine } from './engine.ts';

/** Seals all secrets of the server again under its current key; afterwards older keys are not needed any more. */
export async function rotateSecrets(engine: Engine): Promise<{ readonly rows: number }> {
  // Plans under way were made of the old seals.
  await engine.committer.settle();
  const rows = await sealAgain(engine.database, engine.means.vault);
  // Other servers notice by the revision; this one need not wait for it.
  engine.snapshots.forget();
  engine.past.forget();
  return { rows };
}
