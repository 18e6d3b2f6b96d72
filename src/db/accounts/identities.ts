import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { createBatchedLookUp } from '../batch-look-ups.ts';
import { statement } from '../builder.ts';
import type { AccountAccess, Database, RunSql } from '../database.ts';

/** A person at an identity provider. `embedded`: the provider is this server, and the subject is a user id. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly embedded: boolean;
  /** Account that the token of this server names. Absent: the account in which the person signed in. */
  readonly account?: string;
  /**
   * Hash of the id of the grant of this server to which the token belongs. The token is invalid when the grant no
   * longer exists.
   */
  readonly grant?: string;
}

/** User that belongs to an identity, with the account's current revision. */
export interface KnownIdentity {
  readonly account: string;
  readonly user: string;
  readonly revision: number;
  readonly lastLogin: Date | null;
}

const lookUpText = `select x.name, a.account_id as account, coalesce(d.subject_id, x.subject) as "user", a.revision, i.last_login as "lastLogin"
from unnest($1::text[], $2::boolean[], $3::text[], $4::text[], $5::text[], $6::text[])
  as x(name, embedded, account, issuer, subject, "grant")
left join directory d on not x.embedded and d.kind = 'identity' and d.value = x.issuer || ' ' || x.subject
left join directory s on x.embedded and x.account = '' and s.kind = 'user' and s.value = x.subject
join accounts a on a.account_id = coalesce(d.account_id, s.account_id, case when x.embedded then x.account end)
left join identities i on i.account_id = a.account_id and i.issuer = x.issuer and i.subject = x.subject
where x."grant" = '' or exists (
  select from idp_records r where r.grant_hash = x."grant" and r.model = 'Grant' and r.expires_at > now()
)`;

/** Finds the user that belongs to an identity. Returns `undefined` when there is none. */
export type IdentityLookUp = (identity: Identity) => Promise<KnownIdentity | undefined>;

/** Returns a look-up that reads the user and the account's revision in one query. Concurrent requests share a query. */
export function createIdentityLookUp(database: Database): IdentityLookUp {
  const find = createBatchedLookUp(async (names) => {
    // These names are the JSON that the returned function below writes.
    const all = names.map((name): Identity => JSON.parse(name));
    const rows = await database.lookUp(
      statement<KnownIdentity & { readonly name: string }>(lookUpText, [
        names,
        all.map(({ embedded }) => embedded),
        all.map(({ account = '' }) => account),
        all.map(({ issuer }) => issuer),
        all.map(({ subject }) => subject),
        all.map(({ grant = '' }) => grant),
      ]),
    );
    return new Map(rows.map(({ name, ...known }) => [name, known]));
  });
  return ({ issuer, subject, embedded, account, grant }) =>
    find(JSON.stringify({ issuer, subject, embedded, account, grant }));
}

/** Identity to link to a user. */
export interface NewIdentity extends Pick<Identity, 'issuer' | 'subject'> {
  readonly account: string;
  readonly user: string;
  /** Time of the link, in ISO 8601. */
  readonly at: string;
}

/**
 * Writes the identity and its directory entry. Returns false when the directory already has an entry for the identity.
 * The entry's value separates issuer and subject by a space, which is safe because an issuer is a URL and contains no
 * space.
 */
export async function insertIdentity(run: RunSql, identity: NewIdentity): Promise<boolean> {
  const { account, issuer, subject, user, at } = identity;
  const added = await run(
    `insert into directory (account_id, kind, value, subject_id) values ($1, 'identity', $2, $3)
     on conflict do nothing returning value`,
    [account, `${issuer} ${subject}`, user],
  );
  if (added.length === 0) return false;
  await run(
    // The row may exist already: a sign-in that was recorded while its user was deleted can leave a row for a deleted
    // user.
    `insert into identities (account_id, issuer, subject, user_id, created_at) values ($1, $2, $3, $4, $5::timestamptz)
     on conflict (account_id, issuer, subject) do update set user_id = excluded.user_id, created_at = excluded.created_at`,
    [account, issuer, subject, user, at],
  );
  return true;
}

/** Returns the subjects of a user at an issuer. */
export async function subjectsOf(
  database: Database,
  account: string,
  { issuer, user }: { readonly issuer: string; readonly user: string },
): Promise<readonly string[]> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly subject: string }>(
      'select subject from identities where account_id = $1 and issuer = $2 and user_id = $3',
      [account, issuer, user],
    ),
  ]);
  return rows.map(({ subject }) => subject);
}

/** Returns the users of an account that have one of these subjects, at any issuer. */
export async function usersOfSubjects(
  database: Database,
  account: string,
  subjects: readonly string[],
): Promise<readonly { readonly subject: string; readonly user: string }[]> {
  if (subjects.length === 0) return [];
  const [rows] = await database.inAccount(account, [
    statement<{ readonly subject: string; readonly user: string }>(
      'select subject, user_id as "user" from identities where account_id = $1 and subject = any($2::text[])',
      [account, subjects],
    ),
  ]);
  return rows;
}

/** Returns those of the given users that have a password or an identity at an identity provider. */
export async function usersWhoSignIn(
  database: AccountAccess,
  account: string,
  users: readonly string[],
): Promise<readonly string[]> {
  const text = `select user_id as "user" from credentials where account_id = $1 and user_id = any($2::text[])
    union select user_id from identities where account_id = $1 and user_id = any($2::text[])`;
  const [rows] = await database.inAccount(account, [statement<{ readonly user: string }>(text, [account, users])]);
  return rows.map(({ user }) => user);
}

/** Returns the time of the last sign-in of each user of an account, without the users who never signed in. */
export async function readLogins(
  database: Database,
  account: string,
): Promise<readonly { readonly user: string; readonly at: Date }[]> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly user: string; readonly at: Date }>(
      `select user_id as "user", max(last_login) as at from identities
       where account_id = $1 and last_login is not null group by user_id`,
      [account],
    ),
  ]);
  return rows;
}

/** A sign-in of a user. */
export interface Login extends Pick<Identity, 'issuer' | 'subject'> {
  readonly account: string;
  readonly user: string;
  /** Time of the sign-in, in ISO 8601. */
  readonly at: string;
}

/** Records a sign-in and its audit event. Does nothing when a sign-in at the same time or later is recorded already. */
export async function recordLogin(database: Database, login: Login, entry: AuditEntry): Promise<void> {
  const { account, issuer, subject, user, at } = login;
  const parameters = [...auditParameters(account, entry), issuer, subject, user, at];
  await database.inAccount(account, [statement(loginText, parameters)], { write: true });
}

const loginText = `with login as (
  insert into identities (account_id, issuer, subject, user_id, created_at, last_login)
  select account_id, $9, $10, $11, $2::timestamptz, $12::timestamptz from accounts where account_id = $1
  on conflict (account_id, issuer, subject) do update set last_login = excluded.last_login
  where identities.last_login is null or identities.last_login < excluded.last_login
  returning 1
), ${headAfter('login')}
${insertAuditText}`;

/** Maximum number of accounts that `accountsOfEmail` returns. */
const maxClaims = 10;

/**
 * Returns the accounts that claim an e-mail address, which is given in lower case. An account claims it when it has a
 * user with the address who is active or was invited within the last 30 days; an unproved address is not reserved for
 * longer. Returns at most `maxClaims` accounts. `named`, the account that the person named, comes first when it claims
 * the address, so it is never cut off.
 */
export async function accountsOfEmail(
  database: Database,
  email: string,
  named: string | undefined,
): Promise<readonly string[]> {
  const rows = await database.lookUp(
    statement<{ readonly account: string }>(
      `select k.account_id as account from object_keys k join objects o on o.account_id = k.account_id and o.id = k.object_id
       where k.kind = 'User' and k.rule = 'email' and k.value = $1
         and (o.derived ->> 'status' = 'active' or o.created_at > now() - interval '30 days')
       order by k.account_id = $2 desc, k.account_id limit ${maxClaims}`,
      [email, named ?? ''],
    ),
  );
  return rows.map(({ account }) => account);
}
