import type { ColumnType, Generated } from 'kysely';
import type { Json, JsonObject } from '../lib/json.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { ObjectImage } from '../model/state/members.ts';
import type { Override } from '../model/state/object.ts';
import type { UnitChange } from '../model/state/units.ts';
import type { PlanView } from '../operations/config/plan.ts';
import type { ChangeImage } from './commit/history.ts';
import type { StoredState } from './config/plans.ts';

/**
 * A jsonb column: read as a value, written as JSON text. The drivers disagree on everything else (`pg` sends a list as
 * a Postgres array, and a string unchanged), so text is the only form that both of them accept.
 */
export type JsonColumn<Value = Json> = ColumnType<Value, string, string>;

/** A jsonb column with a default. */
export type DefaultedJson<Value = Json> = ColumnType<Value, string | undefined, string>;

/** A timestamptz column: read as a `Date` (in milliseconds), written as a `Date` or ISO 8601 text. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;

/** A timestamptz column that may be null. */
export type OptionalTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

export interface AccountsTable {
  account_id: string;
  revision: Generated<number>;
  audit_sequence: Generated<number>;
  claim_sequence: Generated<number>;
  sequences: DefaultedJson<{ readonly [name: string]: number }>;
  created_at: Timestamp;
}

export interface ObjectsTable {
  account_id: string;
  id: string;
  kind: string;
  parent_id: string | null;
  key: string | null;
  name: Generated<string>;
  spec: JsonColumn<JsonObject>;
  derived: DefaultedJson<JsonObject>;
  owner: string | null;
  protected: Generated<boolean>;
  overrides: DefaultedJson<readonly Override[]>;
  aliases: DefaultedJson<readonly string[]>;
  created_revision: number;
  updated_revision: number;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export interface ObjectKeysTable {
  account_id: string;
  kind: string;
  rule: string;
  value: string;
  object_id: string;
}

export interface ObjectRefsTable {
  account_id: string;
  from_id: string;
  field: string;
  to_id: string;
  origin: Generated<string>;
  sort_key: string | null;
}

export interface DeclaredTable {
  account_id: string;
  object_id: string;
  source_id: string;
  stated: JsonColumn<JsonObject>;
  file: string | null;
  line: number | null;
  exclusive: Generated<boolean>;
}

export interface SourcesTable {
  account_id: string;
  id: string;
  type: string;
  spec: JsonColumn<JsonObject>;
  status: DefaultedJson<JsonObject>;
  suspended: Generated<boolean>;
  generation: Generated<number>;
  wanted: DefaultedJson<JsonObject>;
  claim_until: OptionalTimestamp;
  claim_warned: Generated<boolean>;
  rolled_back: number | null;
  requested_at: OptionalTimestamp;
  handled_at: OptionalTimestamp;
  hinted_at: OptionalTimestamp;
  created_at: Timestamp;
}

export interface LeasesTable {
  account_id: string;
  name: string;
  owner: string;
  until: Timestamp;
  fence: number;
}

export interface TurnsTable {
  account_id: string;
  contender: string;
  place: number;
  until: Timestamp;
}

export interface PlansTable {
  account_id: string;
  id: string;
  source_id: string | null;
  digest: string;
  state: StoredState;
  request: JsonColumn<JsonObject>;
  result: JsonColumn<PlanView>;
  base_revision: number;
  actor: JsonColumn<Actor>;
  applied_revision: number | null;
  applied_request: ColumnType<string | null, string | null | undefined, string | null>;
  outputs: ColumnType<Json | null, string | null | undefined, string | null>;
  created_at: Timestamp;
  expires_at: Timestamp;
  approved_by: ColumnType<Actor | null, string | null | undefined, string | null>;
  approved_at: OptionalTimestamp;
  wanted_at: OptionalTimestamp;
  failure: ColumnType<string | null, string | null | undefined, string | null>;
}

export interface IdempotencyKeysTable {
  account_id: string;
  key: string;
  request_hash: string;
  status: number | null;
  answer: ColumnType<Json | null, string | null | undefined, string | null>;
  created_at: Timestamp;
  attempted_at: ColumnType<Date, Date | string | undefined, Date | string>;
}

export interface RevisionsTable {
  account_id: string;
  revision: number;
  created_at: Timestamp;
  actor: JsonColumn<Actor>;
  source_id: string | null;
  commit_ref: string | null;
  plan_id: string | null;
  plan_digest: string | null;
  request_id: string;
  summary: DefaultedJson<JsonObject>;
  http_request: string | null;
}

export interface ChangesTable {
  account_id: string;
  revision: number;
  seq: number;
  action: string;
  kind: string;
  object_id: string;
  key: string | null;
  name: Generated<string>;
  units: DefaultedJson<readonly UnitChange[]>;
  image: ColumnType<ChangeImage | null, string | null | undefined, string | null>;
}

export interface HistoryBaseTable {
  account_id: string;
  revision: number;
  valid_from: Generated<number>;
}

export interface AuditBaseTable {
  account_id: string;
  event_id: Generated<number>;
  notice_revision: Generated<number>;
  notice_id: Generated<number>;
}

export interface BaseObjectsTable {
  account_id: string;
  object_id: string;
  image: JsonColumn<ObjectImage>;
}

export interface AuditEventsTable {
  account_id: string;
  id: number;
  revision: number | null;
  created_at: Timestamp;
  activity_code: string;
  initiator_id: Generated<string>;
  initiator_name: Generated<string>;
  initiator_email: Generated<string>;
  target_id: Generated<string>;
  meta: DefaultedJson<JsonObject>;
  http_request: string | null;
}

export interface TokensTable {
  account_id: string;
  id: string;
  user_id: string;
  name: string;
  hash: string;
  created_by: string;
  created_at: Timestamp;
  expires_at: Timestamp;
  last_used: OptionalTimestamp;
  plan_only: Generated<boolean>;
}

export interface CredentialsTable {
  account_id: string;
  email: string;
  user_id: string;
  password_hash: string;
  one_time: Generated<boolean>;
  changed_at: Timestamp;
  totp_secret: string | null;
  totp_confirmed: Generated<boolean>;
  totp_step: number | null;
  recovery_codes: Generated<unknown>;
  proved_user: string | null;
}

export interface InvitesTable {
  account_id: string;
  id: string;
  hash: string;
  user_id: string | null;
  email: string;
  name: string;
  role: string;
  auto_groups: JsonColumn<readonly string[]>;
  created_by: string;
  created_at: Timestamp;
  expires_at: Timestamp;
}

export interface IdentitiesTable {
  account_id: string;
  issuer: string;
  subject: string;
  user_id: string;
  created_at: Timestamp;
  last_login: OptionalTimestamp;
}

export interface SyncLogsTable {
  account_id: string;
  integration_id: string;
  id: number;
  level: string;
  timestamp: Timestamp;
  message: string;
}

/** Values by which rows are found across accounts: a closed list of kinds, not subject to row-level security. */
export interface DirectoryTable {
  account_id: string;
  kind: string;
  value: string;
  subject_id: string;
}

/** The migrations that were applied to this database. */
export interface LedgerTable {
  migration: string;
  oldest_program: number;
  applied_at: Timestamp;
}

/** All tables, for Kysely. bigint columns are numbers (`columnParsers` reads them as numbers on both engines). */
export interface Schema {
  accounts: AccountsTable;
  objects: ObjectsTable;
  object_keys: ObjectKeysTable;
  object_refs: ObjectRefsTable;
  declared: DeclaredTable;
  sources: SourcesTable;
  leases: LeasesTable;
  turns: TurnsTable;
  plans: PlansTable;
  revisions: RevisionsTable;
  changes: ChangesTable;
  history_base: HistoryBaseTable;
  base_objects: BaseObjectsTable;
  audit_base: AuditBaseTable;
  audit_events: AuditEventsTable;
  tokens: TokensTable;
  credentials: CredentialsTable;
  invites: InvitesTable;
  identities: IdentitiesTable;
  sync_logs: SyncLogsTable;
  directory: DirectoryTable;
  idempotency_keys: IdempotencyKeysTable;
  heddle_schema: LedgerTable;
}

/**
 * Parsers of column types (by OID) for which the defaults of the engines differ: int8 and numeric are read as numbers,
 * alone and in lists.
 */
export const columnParsers: { readonly [oid: number]: (text: string) => unknown } = {
  20: Number,
  1700: Number,
  1016: parseNumbers,
  1231: parseNumbers,
};

function parseNumbers(text: string): readonly (number | null)[] {
  const members = text.slice(1, -1);
  return members === '' ? [] : members.split(',').map((member) => (member === 'NULL' ? null : Number(member)));
}
