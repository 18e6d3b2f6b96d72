import type { Json, JsonObject } from '../lib/json.ts';
import { build, statement } from './builder.ts';
import type { Database } from './database.ts';

/** A saved plan: what was asked, what it would do, and until when it may be applied. */
export interface SavedPlan {
  readonly id: string;
  readonly source: string;
  readonly digest: string;
  readonly state: 'ready' | 'needs_approval' | 'applied';
  /** What to plan again when it is applied. */
  readonly request: JsonObject;
  readonly view: Json;
  readonly baseRevision: number;
  readonly actor: JsonObject;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly appliedRevision?: number;
  /** Values that are shown once, sealed. */
  readonly outputs?: string;
}

/** Saves a plan and forgets those that expired. */
export async function savePlan(database: Database, account: string, plan: SavedPlan): Promise<void> {
  await database.inAccount(account, [
    build
      .deleteFrom('plans')
      .where('account_id', '=', account)
      .where('expires_at', '<', new Date(plan.createdAt))
      .compile(),
    build
      .insertInto('plans')
      .values({
        account_id: account,
        id: plan.id,
        source_id: plan.source,
        digest: plan.digest,
        state: plan.state,
        request: JSON.stringify(plan.request),
        result: JSON.stringify(plan.view),
        base_revision: plan.baseRevision,
        actor: JSON.stringify(plan.actor),
        applied_revision: null,
        created_at: plan.createdAt,
        expires_at: plan.expiresAt,
      })
      .compile(),
  ]);
}

/** The saved plan of an id, or `undefined`. */
export async function readPlan(database: Database, account: string, id: string): Promise<SavedPlan | undefined> {
  const [rows] = await database.inAccount(account, [
    build.selectFrom('plans').selectAll().where('account_id', '=', account).where('id', '=', id).compile(),
  ]);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    id: row.id,
    source: row.source_id ?? '',
    digest: row.digest,
    // Written by `savePlan` and `markApplied` alone.
    state: row.state as SavedPlan['state'],
    request: row.request as JsonObject,
    view: row.result,
    baseRevision: row.base_revision,
    actor: row.actor,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    ...(row.applied_revision === null ? {} : { appliedRevision: row.applied_revision }),
  };
}

/** Marks a plan as used, once: answers whether this call was the one. */
export async function claimPlan(database: Database, account: string, id: string): Promise<boolean> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly id: string }>(
      `update plans set state = 'applied' where account_id = $1 and id = $2 and state <> 'applied' returning id`,
      [account, id],
    ),
  ]);
  return rows.length === 1;
}

/** Writes which revision a used plan made, or gives it back when applying it failed. */
export async function settlePlan(
  database: Database,
  account: string,
  id: string,
  outcome:
    | { readonly revision: number | null /** Whoever applied it was told its outputs. */; readonly told: boolean }
    | { readonly state: SavedPlan['state'] },
): Promise<void> {
  const change =
    'state' in outcome
      ? { state: outcome.state }
      : { applied_revision: outcome.revision, outputs: outcome.told ? 'false' : null };
  await database.inAccount(account, [
    build.updateTable('plans').set(change).where('account_id', '=', account).where('id', '=', id).compile(),
  ]);
}

/** The row of an applied plan, as a commit writes it. */
export function appliedPlanRow(plan: SavedPlan): JsonObject {
  return {
    id: plan.id,
    source_id: plan.source,
    digest: plan.digest,
    state: plan.state,
    request: plan.request,
    result: plan.view,
    base_revision: plan.baseRevision,
    actor: plan.actor,
    applied_revision: plan.appliedRevision ?? null,
    created_at: plan.createdAt,
    expires_at: plan.expiresAt,
    outputs: plan.outputs ?? null,
  };
}

/** Answers the sealed outputs of a plan and notes that they were read: whoever comes second finds them `read`. */
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
