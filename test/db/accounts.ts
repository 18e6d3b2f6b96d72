import { ensureOperatorAccount } from '../../src/db/accounts/operator.ts';
import { commit, compileCommit } from '../../src/db/commit/commit.ts';
import type { RevisionInput } from '../../src/db/commit/history.ts';
import type { Database } from '../../src/db/database.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { Document } from '../../src/model/document.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { finishPlan } from '../../src/plan/finish.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { auditEvents } from '../../src/plan/view/events.ts';
import { registry } from '../kinds/objects.ts';
import { document, now, office, planned } from '../plan/steps.ts';

export const actor = { type: 'user', id: 'u1', name: 'Ana', email: 'ana@example.com' } as const;

/** Returns the row of `revisions` that the commit of a plan writes. */
export function revisionOf(outcome: PlanOutcome, before: Snapshot): RevisionInput {
  const { plan, next } = planned(outcome);
  return {
    revision: next.revision,
    plan,
    actor,
    requestId: `request-${next.revision}`,
    at: now,
    events: auditEvents(plan, before, next),
  };
}

/** Commits one plan. Throws when the account has a newer revision. */
export async function write(database: Database, base: Snapshot, outcome: PlanOutcome): Promise<Snapshot> {
  const { next } = planned(outcome);
  const compiled = runToEnd(compileCommit({ base, next, revisions: [revisionOf(outcome, base)] }));
  if ((await commit(database, compiled)) !== 'written') throw new Error('the account has moved on');
  return next;
}

/** Creates an account in the database with the objects of `office`, at revision 1. */
export async function newOffice(database: Database): Promise<Snapshot> {
  const account = (await ensureOperatorAccount(database, { newId: office.account, at: now })) ?? '';
  const empty = emptySnapshot(registry, account);
  const edits = [...office.objects()].map((object) => ({ after: { ...object, createdAt: now, updatedAt: now } }));
  const locate = () => ({ code: 'value_invalid' as const, message: 'the first objects break a rule' });
  return write(database, empty, finishPlan({ snapshot: empty, edits, locate, newId: () => 'never' }));
}

/** Returns documents of this many objects: a fifth are groups, the others are policies with four references each. */
export function manyDocuments(count: number): readonly Document[] {
  const groups = Math.floor(count / 5);
  const key = (at: number) => `g${at % groups}`;
  return Array.from({ length: count }, (_, at) => {
    if (at < groups) return document('Group', `g${at}`);
    const rule = {
      name: 'r',
      action: 'accept',
      protocol: 'all',
      sources: [key(at), key(at * 7 + 1)],
      destinations: [key(at * 3 + 2), key(at * 11 + 3)],
    };
    return document('Policy', `p${at}`, { rules: [rule] });
  });
}

const tables = [
  'accounts',
  'objects',
  'object_keys',
  'object_refs',
  'declared',
  'revisions',
  'changes',
  'audit_events',
];

/** Returns every row of the tables that a commit writes to. */
export async function readTables(database: Database): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const rows: Record<string, readonly unknown[]> = {};
  await database.asOwner(async (run) => {
    for (const table of tables) rows[table] = await run(`select to_jsonb(t) as row from ${table} t order by t::text`);
  });
  return rows;
}

/** Returns the database, and a list to which the statements of every account transaction are added. */
export function noted(database: Database): { readonly database: Database; readonly statements: string[] } {
  const statements: string[] = [];
  const inAccount: Database['inAccount'] = (account, list, options) => {
    statements.push(...list.map(({ sql }) => sql));
    return database.inAccount(account, list, options);
  };
  const watched: Database = {
    engine: database.engine,
    inAccount,
    withAccountLock: (account, work, by) => database.withAccountLock(account, work, by),
    lookUp: (statement) => database.lookUp(statement),
    asOwner: (work, options) => database.asOwner(work, options),
    countWrittenRows: (rows) => database.countWrittenRows(rows),
    ping: () => database.ping(),
    close: () => database.close(),
  };
  return { database: watched, statements };
}
