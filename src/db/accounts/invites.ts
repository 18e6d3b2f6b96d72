import { codeOf, constraintOf } from '../../lib/error-code.ts';
import { type AuditEntry, auditParameters, headAfter, headText, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { ExtraWrite } from '../commit/commit-together.ts';
import { type KeptValues, statementKeepingValues } from '../commit/kept-values.ts';
import type { AccountAccess, Database } from '../database.ts';
import { toRepetitionConflict } from '../repeated-requests.ts';

/** A stored invite. It never contains the token. */
export interface Invite {
  readonly id: string;
  /** Id of the existing user who is invited. Null: accepting the invite creates a user. */
  readonly user: string | null;
  readonly email: string;
  readonly name: string;
  /**
   * Role of the user whom the invite creates. For an existing user: `owner` when a sender acted as an owner and either
   * did so from the managing account or did not see the link, because it was mailed; otherwise empty.
   */
  readonly role: string;
  readonly groups: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** An invite that was looked up by its token. */
export interface FoundInvite extends Invite {
  readonly account: string;
  /** Current revision of the account. */
  readonly revision: number;
}

const columns = `i.id, i.user_id as "user", i.email, i.name, i.role, i.auto_groups as groups, i.created_by as "createdBy",
i.created_at as "createdAt", i.expires_at as "expiresAt"`;

/** Returns the invites of an account that will create a user, oldest first. */
export async function listInvites(database: Database, account: string): Promise<readonly Invite[]> {
  const text = `select ${columns} from invites i where account_id = $1 and user_id is null order by created_at, id`;
  const [rows] = await database.inAccount(account, [statement<Invite>(text, [account])]);
  return rows;
}

/** Returns the invited addresses by group id, for those of the given groups that a pending invite names. */
export async function readInvitedEmails(
  database: AccountAccess,
  account: string,
  groups: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = `select g.id, array_agg(i.email order by i.email) as emails
    from invites i, jsonb_array_elements_text(i.auto_groups) as g(id)
    where i.account_id = $1 and i.user_id is null and i.expires_at > clock_timestamp() and g.id = any($2::text[])
    group by g.id`;
  const query = statement<{ readonly id: string; readonly emails: readonly string[] }>(text, [account, groups]);
  const [rows] = await database.inAccount(account, [query]);
  return new Map(rows.map(({ id, emails }) => [id, emails]));
}

/** Finds an invite by the hash of its token, in any account. */
export async function findInvite(database: Database, hash: string): Promise<FoundInvite | undefined> {
  const text = `select ${columns}, i.account_id as account, a.revision from directory d
    join invites i on i.account_id = d.account_id and i.hash = d.value
    join accounts a on a.account_id = d.account_id
    where d.kind = 'invite' and d.value = $1`;
  const [row] = await database.lookUp(statement<FoundInvite>(text, [hash]));
  return row;
}

/** A new invite to store. */
export interface NewInvite extends Omit<Invite, 'createdAt' | 'expiresAt'> {
  readonly account: string;
  /** SHA-256 of the token, in base64. */
  readonly hash: string;
  /** Creation time, in ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
}

const insertText = `insert into invites (account_id, id, hash, user_id, email, name, role, auto_groups, created_by, created_at, expires_at)
select $1, $9, $10, $11, $12, $13, $14, $15::jsonb, $16, $17::timestamptz, $18::timestamptz`;

// `subject_id` is the invited user, or the inviting user when the invited one does not exist yet. Deleting that user
// deletes the entry.
const entryText = `insert into directory (account_id, kind, value, subject_id) select $1, 'invite', $10, coalesce($11, $16)`;

function parametersOf(account: string, invite: NewInvite, entry: AuditEntry): readonly unknown[] {
  const { id, hash, user, email, name, role, groups, createdBy, createdAt, expiresAt } = invite;
  return [
    ...auditParameters(account, entry),
    ...[id, hash, user, email, name, role, JSON.stringify(groups), createdBy, createdAt, expiresAt],
  ];
}

/** Stores an invite and its audit event. Returns false when the address has an invite already. */
export async function createInvite(
  database: Database,
  invite: NewInvite,
  entry: AuditEntry,
  kept?: KeptValues,
): Promise<boolean> {
  const text = `with ${headText}, made as (${insertText} from head), entry as (${entryText} from head) ${insertAuditText}`;
  try {
    const query = statementKeepingValues(text, parametersOf(invite.account, invite, entry), kept);
    await database.inAccount(invite.account, [query], { write: true });
    return true;
  } catch (error) {
    if (codeOf(error) === '23505' && constraintOf(error) === 'invites_email') return false;
    throw toRepetitionConflict(error);
  }
}

/**
 * Returns the write that invites an existing user, replaces any invite of the same address, and writes the audit event.
 * When the link is mailed, the invite stays an invite by an owner if it replaces one of the same user: the owner sent a
 * link to the same address, and nobody else sees the new one.
 */
export function putInvite(
  invite: NewInvite,
  entry: AuditEntry,
  { isMailed }: { readonly isMailed: boolean },
): ExtraWrite {
  const text = `with ${headText}, old as (
    select hash from invites where account_id = $1 and lower(email) = lower($12)
  ), gone as (
    delete from directory d using old where d.account_id = $1 and d.kind = 'invite' and d.value = old.hash
  ), made as (
    ${insertText} from head
    on conflict (account_id, lower(email)) do update set id = excluded.id, hash = excluded.hash, user_id = excluded.user_id,
      name = excluded.name, role = case when $19::boolean and excluded.role = '' and invites.user_id = excluded.user_id
        then invites.role else excluded.role end, auto_groups = excluded.auto_groups, created_by = excluded.created_by,
      created_at = excluded.created_at, expires_at = excluded.expires_at
  ), entry as (${entryText} from head) ${insertAuditText} returning id`;
  const { account } = invite;
  return { account, statement: statement(text, [...parametersOf(account, invite, entry), isMailed]) };
}

/** Gives an invite a new token, expiry and sender. Returns whether the invite existed. */
export async function renewInvite(
  database: Database,
  account: string,
  { id, hash, createdBy, expiresAt }: Pick<NewInvite, 'id' | 'hash' | 'createdBy' | 'expiresAt'>,
  entry: AuditEntry,
  kept?: KeptValues,
): Promise<boolean> {
  const parameters = [...auditParameters(account, entry), id, hash, expiresAt, createdBy];
  const [rows] = await database.inAccount(account, [statementKeepingValues(renewText, parameters, kept)], {
    write: true,
  });
  return rows.length === 1;
}

const whenChanged = headAfter('changed');

const renewText = `with old as (
  select id, hash from invites where account_id = $1 and id = $9 and user_id is null for update
), changed as (
  update invites i set hash = $10, expires_at = $11::timestamptz, created_by = $12 from old where i.account_id = $1 and i.id = old.id
  returning i.id
), gone as (
  delete from directory d using old where d.account_id = $1 and d.kind = 'invite' and d.value = old.hash
), entry as (
  insert into directory (account_id, kind, value, subject_id) select $1, 'invite', $10, $12 from old
), ${whenChanged}
${insertAuditText} returning id`;

/** Deletes an invite. Returns whether the invite existed. */
export async function deleteInvite(
  database: Database,
  account: string,
  id: string,
  entry: AuditEntry,
): Promise<boolean> {
  const parameters = [...auditParameters(account, entry), id];
  const [rows] = await database.inAccount(account, [statement(deleteText, parameters)], { write: true });
  return rows.length === 1;
}

const deleteText = `with changed as (
  delete from invites where account_id = $1 and id = $9 and user_id is null returning hash
), gone as (
  delete from directory d using changed where d.account_id = $1 and d.kind = 'invite' and d.value = changed.hash
), ${whenChanged}
${insertAuditText} returning id`;

/**
 * Returns the write that uses up an invite. Its statement returns one row, or no row when the invite was used already.
 */
export function consumeInvite(account: string, hash: string): ExtraWrite {
  const text = `with gone as (
    delete from invites where account_id = $1 and hash = $2 returning hash
  ), entry as (
    delete from directory d using gone where d.account_id = $1 and d.kind = 'invite' and d.value = gone.hash
  ) select hash from gone`;
  return { account, statement: statement(text, [account, hash]), mustReturnRow: true };
}
