// Frozen: this file imports nothing of ours and never changes once released.

/** The name in the ledger. */
export const name = '0008_bind_plans';

/** The lowest schema number of a program that may still run against the result. */
export const oldestProgram = 1;

/** The statements, in order, of one transaction. */
export const statements: readonly string[] = [
  // Time at which applying the plan was refused because it needs an approval.
  'alter table plans add column wanted_at timestamptz',
  // Reason why applying it failed.
  'alter table plans add column failure text',
  // A plan is applied once, whatever its row says in the meantime.
  'create unique index revisions_plan on revisions (account_id, plan_id) where plan_id is not null',
  // When the attempt began that is to answer the request; an attempt of a server that died is taken over.
  'alter table idempotency_keys add column attempted_at timestamptz not null default now()',
];
