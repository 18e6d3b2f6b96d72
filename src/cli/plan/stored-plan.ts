import { stat } from 'node:fs/promises';
import { Conflict, InvalidInput, NotFound } from '../../model/errors.ts';
import type { Client } from '../client.ts';
import { readPlanFile } from './plan-file.ts';
import { readPlan, type StoredPlan } from './planning.ts';

/** A plan that the command line names, by its id or by a plan file. */
export interface PlanName {
  readonly id: string;
  /** Digest and server from the plan file. Absent when the plan is named by its id. */
  readonly digest?: string;
  readonly server?: string;
}

/** Form of plan ids, old and new. */
const idForm = /^[0-9a-z]{20}$/;

/** Returns the plan that the arguments name. Returns `undefined` when they name documents. Throws `InvalidInput`. */
export async function planNamed(words: readonly string[]): Promise<PlanName | undefined> {
  const files = await Promise.all(words.map(readPlanFile));
  const at = files.findIndex((file) => file !== undefined);
  const file = files[at];
  if (file !== undefined) {
    if (words.length > 1)
      throw new InvalidInput(`${words[at]} contains a plan, which is applied separately; leave the other paths out.`);
    return { id: file.plan, digest: file.digest, server: file.server };
  }
  const [word = ''] = words;
  return words.length === 1 && idForm.test(word) && !(await exists(word)) ? { id: word } : undefined;
}

/**
 * Reads the plan from the server. Throws `Conflict` when its digest differs from the plan file, and `NotFound` with a
 * hint when the file names another server.
 */
export async function readNamed(client: Client, { id, digest, server }: PlanName, asked: string): Promise<StoredPlan> {
  const plan = await readPlan(client, id).catch((error: unknown) => {
    if (!(error instanceof NotFound) || server === undefined || server === asked) throw error;
    throw new NotFound(
      `The plan was made on ${server}, and ${asked} does not know it; name the server of the plan with --server.`,
      {
        cause: error,
      },
    );
  });
  if (digest === undefined || plan.digest === digest) return plan;
  throw new Conflict(
    'stale',
    `Plan ${id} has the digest ${plan.digest}, and the file names ${digest}; make a new plan.`,
  );
}

/** Throws `Conflict` for a plan that was applied, expired or failed. */
export function requireOpen({ id, state, appliedRevision, expiresAt, failure }: StoredPlan): void {
  const where = appliedRevision === undefined ? '' : ` as revision ${appliedRevision}`;
  if (state === 'applied') throw new Conflict('stale', `Plan ${id} was applied already${where}; make a new one.`);
  if (state === 'expired') throw new Conflict('stale', `Plan ${id} expired at ${expiresAt}; make a new one.`);
  if (state === 'failed')
    throw new Conflict(
      'stale',
      `Plan ${id} could not be applied (${failure ?? 'no reason is known'}); make a new one.`,
    );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
