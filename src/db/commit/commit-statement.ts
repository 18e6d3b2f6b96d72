import { keysOf } from '../../lib/json.ts';
import { jsonInSteps } from '../../lib/steps.ts';
import type { CallerToken } from '../accounts/tokens.ts';
import { insertEventsText } from '../audit-entry.ts';
import { unpreparedStatementPrefix } from '../builder.ts';
import type { Lease } from '../leases/leases.ts';
import { keepRowsText } from './kept-values.ts';
import { frontText } from './turns.ts';

/**
 * Names of the parts of a commit. Each part is one clause of the statement and one list of rows; further clauses write
 * the rows that `created` selects.
 */
type PartName =
  | `gone_${'refs' | 'keys' | 'declared' | 'objects' | 'overrides' | 'entries' | 'deliveries'}`
  | `gone_${'tokens' | 'directory' | 'identities' | 'people' | 'invites' | 'credentials' | 'logins'}`
  | `changed_${'objects' | 'sources' | 'claims' | 'refs'}`
  | 'created'
  | 'used_plans'
  | 'kept_values'
  | `new_${Inserted}`;

type Inserted =
  | 'entries'
  | 'objects'
  | 'keys'
  | 'refs'
  | 'declared'
  | 'overrides'
  | 'deliveries'
  | 'revisions'
  | 'changes'
  | 'events'
  | 'plans'
  | 'statuses';

/** Column values of a row, in the types of JSON. */
export type RowValues = Readonly<Record<string, unknown>>;

/** Lease that must be held, otherwise nothing is written. */
type RequiredLease = Pick<Lease, 'name' | 'fence'>;

/** Returns the name under which the result of a commit reports a token that does not exist. */
export function lostTokenName({ hash }: Pick<CallerToken, 'hash'>): string {
  return `token ${hash}`;
}

/**
 * Builds the one statement of a commit. Its first five parameters are the account, its revision before and after, the
 * number of audit events, and the last numbers of counted kinds if they changed. A part without rows is left out,
 * because every clause costs time even when it does nothing. The statement returns one row when it has written, one row
 * for each lost lease and token, and one row when it is the turn of another contender. Yields regularly, because
 * serialising the rows of a large plan takes long.
 */
export function* commitStatement(
  head: readonly [account: string, base: number, next: number, events: number, numbers: string | null],
  rows: Readonly<Partial<Record<PartName, readonly RowValues[]>>>,
  { leases = [], tokens = [], silentToken, claimedAt = [], contender }: CommitConditions = {},
): Generator<undefined, { readonly text: string; readonly parameters: readonly unknown[] }> {
  const parameters: unknown[] = [...head];
  const add: Bind = (value) => `$${parameters.push(value)}`;
  const present = partNames.filter((name) => (rows[name]?.length ?? 0) > 0);
  const clauses: string[] = [];
  for (const name of present) {
    const list = rows[name] ?? [];
    const text = name.startsWith('gone_') ? '' : yield* jsonInSteps(list);
    clauses.push(`${name} as (${parts[name]({ list, text }, add, present)})`);
    if (name === 'created') clauses.push(...createdClauses);
  }
  const prefix = present.some((name) => name.startsWith('gone_')) ? unpreparedStatementPrefix : '';
  const mayLose = leases.length + tokens.length > 0;
  const unchanged = claimedAt.length === 0 ? '' : ` and claim_sequence = all(${add([...claimedAt])}::bigint[])`;
  const claims = present.includes('changed_claims') ? ', claim_sequence = claim_sequence + 1' : '';
  const lost = mayLose ? [lostClause(leases, tokens, add)] : [];
  const turn = contender === undefined ? [] : [turnClause(contender, add)];
  const silent = silentToken === undefined ? '' : ` and exists (${selectToken(silentToken, add)})`;
  const condition = `${unchanged}${silent}${mayLose ? unlessLost : ''}${contender === undefined ? '' : unlessOthersTurn}`;
  const answer = [
    'select last_event, null as lost, null as turn from head',
    ...(mayLose ? ['select null, name, null from lost'] : []),
    ...(contender === undefined ? [] : ['select null, null, contender from turn']),
  ];
  const all = [...lost, ...turn, headClause(claims, condition), ...clauses];
  return { text: `${prefix}with ${all.join(', ')} ${answer.join(' union all ')}`, parameters };
}

/** Conditions of a commit. Nothing is written unless all of them hold at the time of the commit. */
interface CommitConditions {
  /** Leases that must be held. */
  readonly leases?: readonly RequiredLease[];
  /** Tokens that must exist. */
  readonly tokens?: readonly CallerToken[];
  /** Token that must exist, and is not reported otherwise. A report would take 5 % of the time of a commit. */
  readonly silentToken?: CallerToken | undefined;
  /** Values of `claim_sequence` with which the plans were made. They must all be equal to the current one. */
  readonly claimedAt?: readonly number[];
  /** Contender that writes. No other contender may have the turn. Absent: turns are ignored. */
  readonly contender?: string | undefined;
}

const unlessOthersTurn = ' and not exists (select from turn)';

function turnClause(contender: string, add: Bind): string {
  return `turn as (select contender from (${frontText}) as front where contender <> ${add(contender)})`;
}

/** Adds a parameter and returns its placeholder. */
type Bind = (value: unknown) => string;

function headClause(more: string, condition: string): string {
  return `head as (
  update accounts set revision = $3, audit_sequence = audit_sequence + $4, sequences = coalesce($5::jsonb, sequences)${more}
  where account_id = $1 and revision = $2${condition}
  returning audit_sequence - $4 as last_event, revision
)`;
}

const unlessLost = ' and not exists (select from lost)';

function lostClause(leases: readonly RequiredLease[], tokens: readonly CallerToken[], add: Bind): string {
  const selections = [
    ...(leases.length > 0 ? [selectLostLeases(leases, add)] : []),
    ...(tokens.length > 0 ? [selectLostTokens(tokens, add)] : []),
  ];
  return `lost as (${selections.join(' union all ')})`;
}

/**
 * A holder that takes the lease after this check either plans on the state after this commit, or advances the revision
 * first, so that this commit writes nothing. A write of an earlier holder therefore never follows a write of a later
 * holder.
 */
function selectLostLeases(leases: readonly RequiredLease[], add: Bind): string {
  const names = add(leases.map(({ name }) => name));
  const fences = add(leases.map(({ fence }) => fence));
  return `select x.name from unnest(${names}::text[], ${fences}::bigint[]) as x(name, fence)
  where not exists (
    select from leases l where l.account_id = $1 and l.name = x.name and l.fence = x.fence and l.until > clock_timestamp()
  )`;
}

function selectToken({ id, hash }: CallerToken, add: Bind): string {
  return `select from tokens t where t.account_id = $1 and t.id = ${add(id)} and t.hash = ${add(hash)}`;
}

/** The statement sees every deletion of a token that was acknowledged before the statement was sent. */
function selectLostTokens(tokens: readonly CallerToken[], add: Bind): string {
  const names = add(tokens.map(lostTokenName));
  const ids = add(tokens.map(({ id }) => id));
  const hashes = add(tokens.map(({ hash }) => hash));
  return `select x.name from unnest(${names}::text[], ${ids}::text[], ${hashes}::text[]) as x(name, id, hash)
  where not exists (select from tokens t where t.account_id = $1 and t.id = x.id and t.hash = x.hash)`;
}

/** Rows of a part, as a list and as JSON text. The text is empty for parts that delete. */
interface PartRows {
  readonly list: readonly RowValues[];
  readonly text: string;
}

/** Builds the clause of a part. `present` lists the parts of this statement. */
type Part = (rows: PartRows, add: Bind, present: readonly PartName[]) => string;

/**
 * Clauses of the parts, in order. Deletes run before inserts, because each insert counts the rows that its delete
 * returned. So a unique value can move between objects, or be used again, within one statement. No part may read more
 * of the account than it changes: objects are changed through `on conflict`, which uses only the primary key, and
 * deletes join lists whose lengths the planner sees. Event numbers continue the account's sequence.
 */
const parts: Readonly<Record<PartName, Part>> = {
  gone_refs: (rows, add) => `
  delete from object_refs r using head, unnest(${addListParameters(rows, add, 'from_id', 'field', 'to_id', 'origin')}) as x(from_id, field, to_id, origin)
  where r.account_id = $1 and r.from_id = x.from_id and r.field = x.field and r.to_id = x.to_id and r.origin = x.origin
  returning 1`,
  gone_keys: (rows, add) => `
  delete from object_keys k using head, unnest(${addListParameters(rows, add, 'kind', 'rule', 'value')}) as x(kind, rule, value)
  where k.account_id = $1 and k.kind = x.kind and k.rule = x.rule and k.value = x.value
  returning 1`,
  gone_declared: (rows, add) => `
  delete from declared d using head, unnest(${addListParameters(rows, add, 'object_id', 'source_id')}) as x(object_id, source_id)
  where d.account_id = $1 and d.object_id = x.object_id and d.source_id = x.source_id
  returning 1`,
  gone_objects: (rows, add) => `
  delete from objects o using head, unnest(${addListParameters(rows, add, 'id')}) as x(id)
  where o.account_id = $1 and o.id = x.id
  returning 1`,
  // Deleting a user deletes its tokens, and the directory entries by which they are found.
  gone_tokens: (rows, add) => `
  delete from tokens t using head, unnest(${addListParameters(rows, add, 'id')}) as x(id)
  where t.account_id = $1 and t.user_id = x.id
  returning t.id`,
  gone_directory: () => `
  delete from directory d using gone_tokens t
  where d.account_id = $1 and d.kind = 'token' and d.subject_id = t.id`,
  // It also deletes the user's identities at identity providers.
  gone_identities: (rows, add) => `
  delete from identities i using head, unnest(${addListParameters(rows, add, 'id')}) as x(id)
  where i.account_id = $1 and i.user_id = x.id
  returning i.issuer, i.subject`,
  gone_people: () => `
  delete from directory d using gone_identities i
  where d.account_id = $1 and d.kind = 'identity' and d.value = i.issuer || ' ' || i.subject`,
  // It also deletes the invites that the user sent or received, the user's password if the commit asks for that, and
  // the directory entries by which these are found.
  gone_invites: (rows, add) => `
  delete from invites i using head, unnest(${addListParameters(rows, add, 'id')}) as x(id)
  where i.account_id = $1 and coalesce(i.user_id, i.created_by) = x.id`,
  gone_credentials: (rows, add) => `
  delete from credentials c using head, unnest(${addListParameters(rows, add, 'id')}) as x(id)
  where c.account_id = $1 and c.user_id = x.id`,
  gone_logins: (rows, add) => `
  delete from directory d using head, unnest(${addListParameters(rows, add, 'id')}) as x(id)
  where d.account_id = $1 and d.subject_id = x.id and d.kind in ('email', 'user', 'invite')`,
  gone_overrides: (rows, add) => `
  delete from directory d using head, unnest(${addListParameters(rows, add, 'value')}) as x(value)
  where d.account_id = $1 and d.kind = 'override' and d.value = x.value
  returning 1`,
  gone_entries: (rows, add) => `
  delete from directory d using head, unnest(${addListParameters(rows, add, 'kind', 'value')}) as x(kind, value)
  where d.account_id = $1 and d.kind = x.kind and d.value = x.value
  returning 1`,
  gone_deliveries: (rows, add) => `
  delete from deliveries d using head, unnest(${addListParameters(rows, add, 'channel_id')}) as x(channel_id)
  where d.account_id = $1 and d.channel_id = x.channel_id`,
  // Objects whose rows are taken from the changes that create them. `createdClauses` write the rows.
  created: (rows, add) => `
  select x.* from head, ${selectChanges(rows, add)}`,
  new_objects: (rows, add, present) => `${putObjects(rows, add)}
  where ${waitForDelete('gone_objects', present)}`,
  changed_objects: (rows, add) => `${putObjects(rows, add)}
  where true
  on conflict (account_id, id) do update set parent_id = excluded.parent_id, key = excluded.key, name = excluded.name,
    spec = excluded.spec, derived = excluded.derived, owner = excluded.owner, protected = excluded.protected,
    overrides = excluded.overrides, aliases = excluded.aliases,
    created_revision = excluded.created_revision, updated_revision = excluded.updated_revision, created_at = excluded.created_at,
    updated_at = excluded.updated_at`,
  // A source that only ever pushed has no row until a setting of it must be stored.
  changed_sources: (rows, add) => `
  insert into sources (account_id, id, type, spec, suspended, rolled_back, created_at)
  select $1, x.id, 'push', '{}', x.suspended, x.rolled_back, x.created_at
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(id text, suspended boolean, rolled_back bigint, created_at timestamptz)
  where true
  on conflict (account_id, id) do update set suspended = excluded.suspended, rolled_back = excluded.rolled_back,
    generation = sources.generation + (sources.suspended <> excluded.suspended)::int`,
  // Without open claims on keys or units there is nothing to expire. Open claims keep their time of expiry.
  changed_claims: (rows, add) => `
  insert into sources (account_id, id, type, spec, suspended, rolled_back, wanted, created_at)
  select $1, x.id, 'push', '{}', x.suspended, x.rolled_back, x.wanted, x.created_at
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(id text, suspended boolean, rolled_back bigint, wanted jsonb, created_at timestamptz)
  where true
  on conflict (account_id, id) do update set suspended = excluded.suspended, rolled_back = excluded.rolled_back,
    generation = sources.generation + (sources.suspended <> excluded.suspended)::int, wanted = excluded.wanted,
    claim_until = case when excluded.wanted ? 'keys' or excluded.wanted ? 'units' then sources.claim_until end`,
  new_keys: (rows, add, present) => `
  insert into object_keys (account_id, kind, rule, value, object_id)
  select $1, x.kind, x.rule, x.value, x.object_id
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(kind text, rule text, value text, object_id text)
  where ${waitForDelete('gone_keys', present)}`,
  new_refs: (rows, add, present) => `
  ${putReferences(rows, add)}
  where ${waitForDelete('gone_refs', present)}`,
  // Members whose position in a list changed. As for objects, only the primary key is used.
  changed_refs: (rows, add) => `
  ${putReferences(rows, add)}
  where true
  on conflict (account_id, from_id, field, to_id, origin) do update set sort_key = excluded.sort_key`,
  new_declared: (rows, add, present) => `
  ${insertDeclaredText}
  select $1, x.object_id, x.source_id, x.stated, x.file, x.line, x.exclusive
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(object_id text, source_id text, stated jsonb, file text, line int, exclusive boolean)
  where ${waitForDelete('gone_declared', present)}
  on conflict (account_id, object_id, source_id) do update set stated = excluded.stated, file = excluded.file, line = excluded.line,
    exclusive = excluded.exclusive`,
  new_overrides: (rows, add, present) => `
  insert into directory (account_id, kind, value, subject_id)
  select $1, 'override', x.value, x.subject_id
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(value text, subject_id text)
  where ${waitForDelete('gone_overrides', present)}
  on conflict (kind, value) do nothing`,
  new_entries: (rows, add, present) => `
  insert into directory (account_id, kind, value, subject_id)
  select $1, x.kind, x.value, x.subject_id
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(kind text, value text, subject_id text)
  where ${waitForDelete('gone_entries', present)}`,
  // Deliveries start after the events of this commit.
  new_deliveries: (rows, add) => `
  insert into deliveries (account_id, channel_id, kind, cursor)
  select $1, x.channel_id, x.kind, head.last_event + $4
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(channel_id text, kind text)
  where true
  on conflict do nothing`,
  new_revisions: (rows, add) => `
  insert into revisions (account_id, revision, created_at, actor, source_id, commit_ref, plan_id, plan_digest, request_id, summary, http_request)
  select $1, x.revision, x.created_at, x.actor, x.source_id, x.commit_ref, x.plan_id, x.plan_digest, x.request_id, x.summary, x.http_request
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(revision bigint, created_at timestamptz, actor jsonb, source_id text, commit_ref text,
    plan_id text, plan_digest text, request_id text, summary jsonb, http_request text)`,
  // Marks as applied both the plan that is applied and the approved plan whose digest permitted it.
  used_plans: (rows, add) => `
  update plans p set state = 'applied', applied_revision = x.revision,
    outputs = case when x.delivered and p.id = x.id then 'false' else p.outputs end
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(revision bigint, id text, source_id text, digest text, delivered boolean)
  where p.account_id = $1 and (p.id = x.id or (p.state = 'approved' and p.source_id = x.source_id and p.digest = x.digest))`,
  // Values that a response shows only once are stored with the request, so that a repeated request gets the same
  // response.
  kept_values: (rows, add) => `
  ${keepRowsText(addJsonParameter(rows, add))}`,
  new_changes: (rows, add) => `
  ${insertChangesText}
  from head, ${selectChanges(rows, add)}`,
  new_events: (rows, add) => `
  ${insertEventsText(addJsonParameter(rows, add))}`,
  new_statuses: (rows, add) => `
  insert into peer_status (account_id, peer_id, last_seen, last_login, facts, place)
  select $1, x.peer_id, clock_timestamp(), case when x.signed_in then clock_timestamp() end, x.facts, x.place
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(peer_id text, signed_in boolean, facts jsonb, place jsonb)
  order by x.peer_id
  on conflict (account_id, peer_id) do update set last_seen = excluded.last_seen, facts = coalesce(excluded.facts, peer_status.facts),
    last_login = coalesce(excluded.last_login, peer_status.last_login), place = excluded.place, written = pg_current_xact_id()`,
  new_plans: (rows, add) => `
  insert into plans (account_id, id, source_id, digest, state, request, result, base_revision, actor, applied_revision, created_at, expires_at, outputs)
  select $1, x.id, x.source_id, x.digest, x.state, x.request, x.result, x.base_revision, x.actor, x.applied_revision, x.created_at, x.expires_at, x.outputs
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(id text, source_id text, digest text, state text, request jsonb, result jsonb, base_revision bigint,
    actor jsonb, applied_revision bigint, created_at timestamptz, expires_at timestamptz, outputs jsonb)`,
};

// In the order of `parts`.
const partNames = keysOf(parts);

function putObjects(rows: PartRows, add: Bind): string {
  return `
  ${insertObjectsText}
  select $1, x.id, x.kind, x.parent_id, x.key, x.name, x.spec, x.derived, x.owner, x.protected, x.overrides, x.aliases, x.created_revision, x.updated_revision, x.created_at, x.updated_at
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(id text, kind text, parent_id text, key text, name text, spec jsonb, derived jsonb, owner text,
    protected boolean, overrides jsonb, aliases jsonb, created_revision bigint, updated_revision bigint, created_at timestamptz, updated_at timestamptz)`;
}

const insertObjectsText =
  'insert into objects (account_id, id, kind, parent_id, key, name, spec, derived, owner, protected, overrides, aliases, created_revision, updated_revision, created_at, updated_at)';

const insertDeclaredText = 'insert into declared (account_id, object_id, source_id, stated, file, line, exclusive)';

const insertChangesText = `insert into changes (account_id, revision, seq, action, kind, object_id, key, name, units, image)
  select $1, x.revision, x.seq, x.action, x.kind, x.object_id, x.key, x.name, x.units, x.image`;

/**
 * Clauses that write the changes of `created`, and the objects and declarations that these changes contain. The
 * objects and declarations wait for no delete, because the account had no object with these ids before the commit.
 */
const createdClauses: readonly string[] = [
  `created_changes as (
  ${insertChangesText}
  from created x
)`,
  `created_objects as (
  ${insertObjectsText}
  select $1, x.object_id, x.kind, o.parent, x.key, x.name, o.spec, o.derived, o.owner, o.protected, coalesce(o.overrides, '[]'), coalesce(o.aliases, '[]'),
    o."createdRevision", o."updatedRevision", o."createdAt", o."updatedAt"
  from created x, jsonb_to_record(x.image -> 'object') as o(parent text, spec jsonb, derived jsonb, owner text, protected boolean, overrides jsonb, aliases jsonb,
    "createdRevision" bigint, "updatedRevision" bigint, "createdAt" timestamptz, "updatedAt" timestamptz)
)`,
  `created_declared as (
  ${insertDeclaredText}
  select $1, x.object_id, d.source, d.stated, d.file, d.line, coalesce(d.exclusive, false)
  from created x, jsonb_to_recordset(x.image -> 'object' -> 'declared') as d(source text, stated jsonb, file text, line int, exclusive boolean)
)`,
];

function selectChanges(rows: PartRows, add: Bind): string {
  return `json_to_recordset(${addJsonParameter(rows, add)}) as x(revision bigint, seq int, action text, kind text, object_id text, key text, name text, units jsonb, image jsonb)`;
}

function putReferences(rows: PartRows, add: Bind): string {
  return `insert into object_refs (account_id, from_id, field, to_id, origin, sort_key)
  select $1, x.from_id, x.field, x.to_id, x.origin, x.sort_key
  from head, json_to_recordset(${addJsonParameter(rows, add)}) as x(from_id text, field text, to_id text, origin text, sort_key text)`;
}

function addJsonParameter({ text }: PartRows, add: Bind): string {
  return `${add(text)}::json`;
}

/** Adds one list parameter for each member, with its values of all rows. Returns the placeholders. */
function addListParameters({ list }: PartRows, add: Bind, ...members: readonly string[]): string {
  return members.map((member) => `${add(list.map((row) => row[member]))}::text[]`).join(', ');
}

/** Returns a condition that makes a clause wait for a delete of the same statement. */
function waitForDelete(part: PartName, present: readonly PartName[]): string {
  return present.includes(part) ? `(select count(*) from ${part}) >= 0` : 'true';
}
