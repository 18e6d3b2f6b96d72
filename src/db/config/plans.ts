import { sql } from 'kysely';
import type { Json, JsonObject } from '../../lib/json.ts';
import { jsonInSteps } from '../../lib/steps.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { planStates } from '../../model/declare/plan-words.ts';
import type { PlanView } from '../../operations/config/plan.ts';
import { queryBuilder, statement } from '../builder.ts';
import type { RowValues } from '../commit/commit-statement.ts';
import type { AccountAccess, Database } from '../database.ts';

/** State of a stored plan. `expired` is not stored, because it follows from the time. */
export type StoredState = Exclude<(typeof planStates)[number], 'expired'>;

/** A stored plan without its request, view and outputs. */
export interface PlanHead {
  readonly id: string;
  readonly source: string;
  readonly digest: string;
  readonly state: StoredState;
  readonly baseRevision: number;
  readonly actor: Actor;
  /** Time of creation, in ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly approvedBy?: Actor;
  readonly approvedAt?: string;
  readonly appliedRevision?: number;
  /** Id of the request that applied the plan. Present only when applying it changed nothing. */
  readonly appliedRequest?: string;
  /** Reason why applying the plan failed. */
  readonly failure?: string;
}

/** A stored plan with its request, its view and its outputs. */
export interface SavedPlan extends PlanHead {
  /** Request that is planned again when the plan is applied. */
  readonly request: JsonObject;
  readonly view: PlanView;
  /** Sealed values that are shown only once. */
  readonly outputs?: string;
}

/** Time for which expired plans can still be viewed, in milliseconds. */
const retentionMs = 7 * 24 * 60 * 60 * 1000;

/** The members of a plan that may be long, as JSON text. */
export interface PlanTexts {
  readonly request: string;
  readonly view: string;
}

/** Serialises the members of a plan that may be long. Yields regularly. */
export function* planTexts({ request, view }: Pick<SavedPlan, 'request' | 'view'>): Generator<undefined, PlanTexts> {
  return { request: yield* jsonInSteps(request), view: yield* jsonInSteps(view) };
}

/** Saves a plan, and deletes plans that expired more than `retentionMs` ago. */
export async function savePlan(
  database: AccountAccess,
  account: string,
  plan: SavedPlan,
  { request, view }: PlanTexts,
): Promise<void> {
  const forgotten = new Date(Date.parse(plan.createdAt) - retentionMs);
  const forget = queryBuilder.deleteFrom('plans').where('account_id', '=', account).where('expires_at', '<', forgotten);
  const insert = queryBuilder
    .insertInto('plans')
    .values({
      account_id: account,
      id: plan.id,
      source_id: plan.source,
      digest: plan.digest,
      state: plan.state,
      request,
      result: view,
      base_revision: plan.baseRevision,
      actor: JSON.stringify(plan.actor),
      applied_revision: null,
      created_at: plan.createdAt,
      expires_at: plan.expiresAt,
    })
    // A repeated request uses the plan id of the first request.
    .onConflict((conflict) => conflict.doNothing());
  await database.inAccount(account, [forget.compile(), insert.compile()], { write: true });
}

const headColumns = [
  ...(['id', 'source_id', 'digest', 'state', 'base_revision', 'actor', 'created_at', 'expires_at'] as const),
  ...(['approved_by', 'approved_at', 'applied_revision', 'applied_request', 'failure'] as const),
] as const;

/**
 * Lists of a view that grow with the plan. They are read item by item, because a list that is read as a whole is also
 * parsed as a whole.
 */
const longLists = ['changes', 'claims'] as const;

/** Returns the stored plan with this id, or `undefined` when there is none. */
export async function readPlan(database: AccountAccess, account: string, id: string): Promise<SavedPlan | undefined> {
  const [rows, items] = await database.inAccount(account, [
    queryBuilder
      .selectFrom('plans')
      .select([...headColumns, 'request'])
      .select(sql<Omit<PlanView, 'changes' | 'claims'>>`result - 'changes' - 'claims'`.as('rest'))
      .where('account_id', '=', account)
      .where('id', '=', id)
      .compile(),
    statement<ItemRow>(itemsText, [account, id, [...longLists]]),
  ]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const lists = longLists.map((name) => [name, items.filter(({ list }) => list === name).map(({ item }) => item)]);
  // `savePlan` and `appliedPlanRow` write the view, so its parts have these types.
  return { ...headOf(row), request: row.request, view: { ...row.rest, ...Object.fromEntries(lists) } };
}

interface ItemRow {
  readonly list: string;
  readonly item: Json;
}

const itemsText = `select list, item from plans, unnest($3::text[]) as list,
  jsonb_array_elements(result -> list) with ordinality as x(item, at)
where account_id = $1 and id = $2 order by list, at`;

/** Filter for plans. An absent member does not filter. */
export interface PlanFilter {
  readonly ids?: readonly string[];
  readonly source?: string;
  readonly digest?: string;
  readonly states?: readonly StoredState[];
  /** Only plans that had not expired at this time, in ISO 8601. */
  readonly validAt?: string;
  /** Only plans that had expired at this time, in ISO 8601. */
  readonly expiredAt?: string;
  readonly limit: number;
}

/** Returns stored plans with the numbers of their changes, newest first. */
export async function listPlans(
  database: Database,
  account: string,
  { ids, source, digest, states, validAt, expiredAt, limit }: PlanFilter,
): Promise<readonly (PlanHead & { readonly counts: PlanView['counts'] })[]> {
  let query = queryBuilder
    .selectFrom('plans')
    .select([...headColumns])
    .select(sql<PlanView['counts']>`result -> 'counts'`.as('counts'))
    .where('account_id', '=', account);
  if (ids !== undefined) query = query.where('id', 'in', ids);
  if (source !== undefined) query = query.where('source_id', '=', source);
  if (digest !== undefined) query = query.where('digest', '=', digest);
  if (states !== undefined) query = query.where('state', 'in', states);
  if (validAt !== undefined) query = query.where('expires_at', '>', new Date(validAt));
  if (expiredAt !== undefined) query = query.where('expires_at', '<=', new Date(expiredAt));
  const [rows] = await database.inAccount(account, [
    query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).compile(),
  ]);
  return rows.map((row) => ({ ...headOf(row), counts: row.counts }));
}

interface HeadRow {
  readonly id: string;
  readonly source_id: string | null;
  readonly digest: string;
  readonly state: StoredState;
  readonly base_revision: number;
  readonly actor: Actor;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly approved_by: Actor | null;
  readonly approved_at: Date | null;
  readonly applied_revision: number | null;
  readonly applied_request: string | null;
  readonly failure: string | null;
}

function headOf(row: HeadRow): PlanHead {
  return {
    id: row.id,
    source: row.source_id ?? '',
    digest: row.digest,
    state: row.state,
    baseRevision: row.base_revision,
    actor: row.actor,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    ...(row.approved_by === null ? {} : { approvedBy: row.approved_by }),
    ...(row.approved_at === null ? {} : { approvedAt: row.approved_at.toISOString() }),
    ...(row.applied_revision === null ? {} : { appliedRevision: row.applied_revision }),
    ...(row.applied_request === null ? {} : { appliedRequest: row.applied_request }),
    ...(row.failure === null ? {} : { failure: row.failure }),
  };
}

/**
 * Marks as applied a plan that changed nothing. A plan that changed something is marked by its commit. Returns whether
 * this request marked it, also when the call is repeated.
 */
export async function markPlanApplied(
  database: Database,
  account: string,
  id: string,
  request: string,
): Promise<boolean> {
  const [rows] = await database.inAccount(
    account,
    [
      statement<{ readonly id: string }>(
        `update plans set state = 'applied', applied_request = $3
         where account_id = $1 and id = $2 and (state in ('ready', 'approved') or applied_request = $3) returning id`,
        [account, id, request],
      ),
    ],
    { write: true },
  );
  return rows.length === 1;
}

/**
 * Records why applying a plan failed, unless the plan was applied after all. Returns whether the failure was recorded.
 */
export async function recordPlanFailure(
  database: AccountAccess,
  account: string,
  id: string,
  failure: string,
): Promise<boolean> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly id: string }>(
      `update plans set state = 'failed', failure = $3 where account_id = $1 and id = $2 and state <> 'applied' returning id`,
      [account, id, failure],
    ),
  ]);
  return rows.length === 1;
}

/** Returns the row of an applied plan, as a commit writes it. */
export function appliedPlanRow(plan: SavedPlan): RowValues {
  return {
    id: plan.id,
    source_id: plan.source,
    digest: plan.digest,
    state: plan.state,
    request: plan.request,
    result: plan.view,
    base_revision: plan.baseRevision,
    actor: { ...plan.actor },
    applied_revision: plan.appliedRevision ?? null,
    created_at: plan.createdAt,
    expires_at: plan.expiresAt,
    outputs: plan.outputs ?? null,
  };
}
