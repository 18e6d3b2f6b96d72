import type { CompiledQuery } from 'kysely';
import type { JsonObject } from '../lib/json.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { statement } from './builder.ts';
import type { Database } from './database.ts';
import { changeRows, type RevisionInput } from './history.ts';
import { countRows, rowChanges } from './rows.ts';
import { subjectIds } from './touched.ts';

/** One or several plans of one account, each computed on what its predecessor leaves. */
export interface CommitInput {
  readonly base: Snapshot;
  readonly next: Snapshot;
  readonly revisions: readonly RevisionInput[];
}

/**
 * Writes the plans in one statement, or nothing when the account has moved on from `base`: the head row is advanced by
 * compare-and-swap and everything else hangs on it. Answers whether it was written.
 */
export async function commit(database: Database, input: CommitInput): Promise<boolean> {
  const { statement, rows } = commitStatement(input);
  const [written] = await database.inAccount(input.base.account, [statement], { write: true });
  if (written.length === 0) return false;
  database.wrote(rows);
  return true;
}

/** The statement of a commit, which answers no row when the account has moved on; and how many rows it writes. */
export function commitStatement({ base, next, revisions }: CommitInput): {
  readonly statement: CompiledQuery<{ readonly last_event: number }>;
  readonly rows: number;
} {
  const rows = rowChanges(base, next, new Set(revisions.flatMap(({ plan }) => subjectIds(plan))));
  const events = revisions.flatMap((revision) => eventRows(revision));
  const history = revisions.flatMap((revision) => changeRows(revision));
  const parameters = [
    base.account,
    base.revision,
    next.revision,
    events.length,
    rows.deleteReferences,
    rows.deleteKeys,
    rows.dropDeclared,
    rows.deleteObjects,
    rows.insertObjects,
    rows.updateObjects,
    rows.insertKeys,
    rows.insertReferences,
    rows.putDeclared,
    revisions.map(revisionRow),
    history,
    events,
    next.numbers() === base.numbers() ? null : JSON.stringify(next.numbers()),
  ].map((value) => (Array.isArray(value) ? JSON.stringify(value) : value));
  return { statement: statement(text, parameters), rows: countRows(rows) + history.length + events.length };
}

function revisionRow({ revision, plan, actor, requestId, commitRef, planId, at }: RevisionInput): JsonObject {
  return {
    revision,
    created_at: at,
    actor: { ...actor },
    source_id: plan.source ?? null,
    commit_ref: commitRef ?? null,
    plan_id: planId ?? null,
    plan_digest: plan.digest,
    request_id: requestId,
    summary: { ...plan.counts },
  };
}

function eventRows({ revision, actor, at, events }: RevisionInput): readonly JsonObject[] {
  return events.map((event) => ({
    revision,
    created_at: at,
    activity_code: event.code,
    initiator_id: actor.id,
    initiator_name: actor.name,
    initiator_email: actor.email ?? '',
    target_id: event.target ?? '',
    meta: event.meta,
  }));
}

/**
 * Deletes come before inserts (each insert counts what was deleted), so that unique values can move between objects and
 * be taken again within one statement. The tokens of an object go with it. `events` are numbered on from the account's sequence.
 */
const text = `
with head as (
  update accounts set revision = $3, audit_sequence = audit_sequence + $4, sequences = coalesce($17::jsonb, sequences)
  where account_id = $1 and revision = $2
  returning audit_sequence - $4 as last_event
), gone_refs as (
  delete from object_refs r using head, json_to_recordset($5::json) as x(from_id text, field text, to_id text, origin text)
  where r.account_id = $1 and r.from_id = x.from_id and r.field = x.field and r.to_id = x.to_id and r.origin = x.origin
  returning 1
), gone_keys as (
  delete from object_keys k using head, json_to_recordset($6::json) as x(kind text, rule text, value text)
  where k.account_id = $1 and k.kind = x.kind and k.rule = x.rule and k.value = x.value
  returning 1
), gone_declared as (
  delete from declared d using head, json_to_recordset($7::json) as x(object_id text, source_id text)
  where d.account_id = $1 and d.object_id = x.object_id and d.source_id = x.source_id
  returning 1
), gone_objects as (
  delete from objects o using head, json_to_recordset($8::json) as x(id text)
  where o.account_id = $1 and o.id = x.id
  returning 1
), gone_tokens as (
  delete from tokens t using head, json_to_recordset($8::json) as x(id text)
  where t.account_id = $1 and t.user_id = x.id
  returning t.id
), gone_directory as (
  delete from directory d using gone_tokens t
  where d.account_id = $1 and d.kind = 'token' and d.subject_id = t.id
), new_objects as (
  insert into objects (account_id, id, kind, parent_id, key, name, spec, derived, owner, protected, created_revision, updated_revision, created_at, updated_at)
  select $1, x.id, x.kind, x.parent_id, x.key, x.name, x.spec, x.derived, x.owner, x.protected, x.created_revision, x.updated_revision, x.created_at, x.updated_at
  from head, json_to_recordset($9::json) as x(id text, kind text, parent_id text, key text, name text, spec jsonb, derived jsonb, owner text,
    protected boolean, created_revision bigint, updated_revision bigint, created_at timestamptz, updated_at timestamptz)
  where (select count(*) from gone_objects) >= 0
), changed_objects as (
  update objects o set parent_id = x.parent_id, key = x.key, name = x.name, spec = x.spec, derived = x.derived, owner = x.owner,
    protected = x.protected, updated_revision = x.updated_revision, updated_at = x.updated_at
  from head, json_to_recordset($10::json) as x(id text, parent_id text, key text, name text, spec jsonb, derived jsonb, owner text,
    protected boolean, updated_revision bigint, updated_at timestamptz)
  where o.account_id = $1 and o.id = x.id
), new_keys as (
  insert into object_keys (account_id, kind, rule, value, object_id)
  select $1, x.kind, x.rule, x.value, x.object_id
  from head, json_to_recordset($11::json) as x(kind text, rule text, value text, object_id text)
  where (select count(*) from gone_keys) >= 0
), new_refs as (
  insert into object_refs (account_id, from_id, field, to_id, origin)
  select $1, x.from_id, x.field, x.to_id, x.origin
  from head, json_to_recordset($12::json) as x(from_id text, field text, to_id text, origin text)
  where (select count(*) from gone_refs) >= 0
), new_declared as (
  insert into declared (account_id, object_id, source_id, stated, file, line)
  select $1, x.object_id, x.source_id, x.stated, x.file, x.line
  from head, json_to_recordset($13::json) as x(object_id text, source_id text, stated jsonb, file text, line int)
  where (select count(*) from gone_declared) >= 0
  on conflict (account_id, object_id, source_id) do update set stated = excluded.stated, file = excluded.file, line = excluded.line
), new_revisions as (
  insert into revisions (account_id, revision, created_at, actor, source_id, commit_ref, plan_id, plan_digest, request_id, summary)
  select $1, x.revision, x.created_at, x.actor, x.source_id, x.commit_ref, x.plan_id, x.plan_digest, x.request_id, x.summary
  from head, json_to_recordset($14::json) as x(revision bigint, created_at timestamptz, actor jsonb, source_id text, commit_ref text,
    plan_id text, plan_digest text, request_id text, summary jsonb)
), new_changes as (
  insert into changes (account_id, revision, seq, action, kind, object_id, key, name, units, image)
  select $1, x.revision, x.seq, x.action, x.kind, x.object_id, x.key, x.name, x.units, x.image
  from head, json_to_recordset($15::json) as x(revision bigint, seq int, action text, kind text, object_id text, key text, name text, units jsonb, image jsonb)
), new_events as (
  insert into audit_events (account_id, id, revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta)
  select $1, head.last_event + x.at, (x.event ->> 'revision')::bigint, (x.event ->> 'created_at')::timestamptz, x.event ->> 'activity_code',
    x.event ->> 'initiator_id', x.event ->> 'initiator_name', x.event ->> 'initiator_email', x.event ->> 'target_id', (x.event -> 'meta')::jsonb
  from head, json_array_elements($16::json) with ordinality as x(event, at)
)
select last_event from head`;
