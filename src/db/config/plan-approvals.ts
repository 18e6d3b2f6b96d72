import type { Actor } from '../../model/declare/actor.ts';
import { statement } from '../builder.ts';
import type { AccountAccess } from '../database.ts';

/**
 * Records the approval of a plan and makes its source run at once. Returns false when the plan cannot be approved: it
 * is approved or applied already, or it has expired.
 */
export async function putApproval(
  database: AccountAccess,
  account: string,
  id: string,
  { by, at }: { readonly by: Actor; readonly at: string },
): Promise<boolean> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly id: string }>(approveText, [account, id, JSON.stringify(by), at]),
  ]);
  return rows.length === 1;
}

const approveText = `with approved as (
  update plans set state = 'approved', approved_by = $3::jsonb, approved_at = $4::timestamptz
  where account_id = $1 and id = $2 and state in ('ready', 'needs_approval') and expires_at > $4::timestamptz
  returning id, source_id
), asked as (
  update sources s set requested_at = $4::timestamptz from approved a where s.account_id = $1 and s.id = a.source_id
)
select id from approved`;

/**
 * Expires the plans of an automatic source that wait for an approval, except the newest `keep`. Their views can still
 * be read; their requests are deleted.
 */
export async function supersedePlans(
  database: AccountAccess,
  account: string,
  source: string,
  { keep, at }: { readonly keep: number; readonly at: string },
): Promise<void> {
  await database.inAccount(account, [statement(supersedeText, [account, source, keep, at])]);
}

const supersedeText = `update plans set expires_at = $4::timestamptz, request = '{}'
where account_id = $1 and id in (
  select id from plans
  where account_id = $1 and source_id = $2 and state = 'needs_approval' and actor ->> 'type' = 'source' and expires_at > $4::timestamptz
  order by created_at desc, id desc offset $3
)`;

/** Records a request to apply a plan that is not approved. Returns whether it is the first request. */
export async function recordApplyAttempt(
  database: AccountAccess,
  account: string,
  id: string,
  at: string,
): Promise<boolean> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly id: string }>(
      `update plans set wanted_at = $3::timestamptz where account_id = $1 and id = $2 and wanted_at is null returning id`,
      [account, id, at],
    ),
  ]);
  return rows.length === 1;
}
