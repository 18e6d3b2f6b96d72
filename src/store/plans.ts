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
  outcome: { readonly revision: number | null } | { readonly state: SavedPlan['state'] },
): Promise<void> {
  const change = 'state' in outcome ? { state: outcome.state } : { applied_revision: outcome.revision };
  await database.inAccount(account, [
    build.updateTable('plans').set(change).where('account_id', '=', account).where('id', '=', id).compile(),
  ]);
}
