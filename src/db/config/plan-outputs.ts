import type { Json } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Returns the sealed outputs of a plan and records that they were read: a second reader finds them `read`. */
export async function takeOutputs(
  database: Database,
  account: string,
  id: string,
  now: string,
): Promise<'no plan' | 'none' | 'read' | { readonly sealed: string }> {
  const [rows] = await database.inAccount(
    account,
    [
      statement<{ readonly outputs: Json | null }>(
        `with found as (select id, outputs from plans where account_id = $1 and id = $2 and expires_at >= $3 for update),
         taken as (update plans p set outputs = 'false' from found where p.account_id = $1 and p.id = found.id and found.outputs is not null)
         select outputs from found`,
        [account, id, now],
      ),
    ],
    { write: true },
  );
  const [row] = rows;
  if (row === undefined) return 'no plan';
  if (row.outputs === null) return 'none';
  return typeof row.outputs === 'string' ? { sealed: row.outputs } : 'read';
}

/** Outputs of a plan that were not read yet. */
export interface SealedOutputs {
  readonly plan: string;
  readonly sealed: string;
}

/** Returns the outputs of a source that were not read yet, oldest first. */
export async function listSealedOutputs(
  database: Database,
  account: string,
  source: string,
  now: string,
): Promise<readonly SealedOutputs[]> {
  const [rows] = await database.inAccount(account, [
    statement<SealedOutputs>(
      `select id as plan, outputs #>> '{}' as sealed from plans
       where account_id = $1 and source_id = $2 and expires_at >= $3 and jsonb_typeof(outputs) = 'string'
       order by applied_revision, created_at, id`,
      [account, source, now],
    ),
  ]);
  return rows;
}

/**
 * Replaces the outputs of a plan by `others`. Absent `others` mark all outputs as read. Returns false when the stored
 * outputs are no longer `sealed`.
 */
export async function replaceOutputs(
  database: Database,
  account: string,
  { plan, sealed }: SealedOutputs,
  others: string | undefined,
): Promise<boolean> {
  const [rows] = await database.inAccount(
    account,
    [
      statement<{ readonly id: string }>(
        `update plans set outputs = $4::jsonb
         where account_id = $1 and id = $2 and outputs = to_jsonb($3::text) returning id`,
        [account, plan, sealed, JSON.stringify(others ?? false)],
      ),
    ],
    { write: true },
  );
  return rows.length === 1;
}
