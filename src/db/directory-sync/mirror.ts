import type { JsonObject } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { type HeldSync, heldParameters, isHeld } from './progress.ts';

/** A group of the directory whose name has one of the configured prefixes. */
export interface MirroredGroup {
  readonly id: string;
  readonly name: string;
  /** Whether the group itself is copied to the account. */
  readonly synced: boolean;
  /** Whether the group selects its members, if only the members of some groups are stored as users. */
  readonly selecting: boolean;
}

/** Changes from a page of groups. Each group is in only one of the lists, and so is each member of a group. */
export interface GroupsPage {
  readonly link: string;
  /** Whether this is the last page of the list. */
  readonly last: boolean;
  readonly groups: readonly MirroredGroup[];
  /** Groups that were deleted or are no longer selected. */
  readonly removedGroups: readonly string[];
  readonly addedMembers: readonly GroupMember[];
  readonly removedMembers: readonly GroupMember[];
}

/** Membership of a user in a group, by their ids. */
export interface GroupMember {
  readonly group: string;
  readonly user: string;
}

/** Changes from a page of users. */
export interface UsersPage {
  /** Absent: the stored link is kept. */
  readonly link?: string;
  /** Whether this is the last page of the list. */
  readonly last?: boolean;
  readonly users: readonly { readonly id: string; readonly data: JsonObject }[];
  /** Users who were removed and may be restored. */
  readonly removed: readonly string[];
  /** Users who were deleted permanently. */
  readonly deleted: readonly string[];
}

/** Rules that decide which users are stored. */
export interface UserScope {
  /** Whether users are left out who are in no group that selects its members. */
  readonly restricted: boolean;
  /** Whether the data of users who are not stored yet is complete, so that they can be added. */
  readonly isComplete: boolean;
}

/** Returns the names of those of the given groups that are stored in this generation, by id. */
export async function knownGroups(
  database: Database,
  { account, integration }: HeldSync,
  generation: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly id: string; readonly name: string }>(
      `select id, name from directory_groups
      where account_id = $1 and integration_id = $2 and generation = $3 and id = any($4::text[])`,
      [account, integration, generation, ids],
    ),
  ]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Writes a page of groups and the link to the next page. Writes nothing and returns false when the lease is lost. */
export async function writeGroups(database: Database, held: HeldSync, page: GroupsPage): Promise<boolean> {
  const { link, last, groups, removedGroups, addedMembers, removedMembers } = page;
  const lists = [JSON.stringify(groups), removedGroups, JSON.stringify(addedMembers), JSON.stringify(removedMembers)];
  return write(database, held, groupsText, [link, ...lists, last]);
}

const ofIntegration = 'account_id = $1 and integration_id = $2';

const groupsText = `with held as (
  update directory_syncs s set groups_link = $5, groups_read = groups_read or $10, linked_at = clock_timestamp(), applied_revision = null where ${isHeld} returning generation
), gone as (
  delete from directory_groups using held where ${ofIntegration} and id = any($7::text[])
), gone_members as (
  delete from directory_members using held where ${ofIntegration} and group_id = any($7::text[])
), left_members as (
  delete from directory_members m using held, json_to_recordset($9::json) as x("group" text, "user" text)
  where ${ofIntegration} and m.group_id = x."group" and m.user_id = x."user"
), groups as (
  insert into directory_groups (account_id, integration_id, id, generation, name, synced, selecting)
  select $1, $2, x.id, held.generation, x.name, x.synced, x.selecting
  from held, json_to_recordset($6::json) as x(id text, name text, synced boolean, selecting boolean)
  on conflict (account_id, integration_id, id) do update
    set generation = excluded.generation, name = excluded.name, synced = excluded.synced, selecting = excluded.selecting
), members as (
  insert into directory_members (account_id, integration_id, group_id, user_id, generation)
  select $1, $2, x."group", x."user", held.generation
  from held, json_to_recordset($8::json) as x("group" text, "user" text)
  on conflict (account_id, integration_id, group_id, user_id) do update set generation = excluded.generation
)
select 1 from held`;

const selections = `from directory_members m
  join directory_groups g on g.account_id = m.account_id and g.integration_id = m.integration_id and g.id = m.group_id
  join directory_syncs c on c.account_id = m.account_id and c.integration_id = m.integration_id
  where m.account_id = $1 and m.integration_id = $2 and g.selecting
    and m.generation = c.generation and g.generation = c.generation`;

/**
 * Returns the condition that a group selects a user. `offset 0` keeps Postgres from joining users with members: without
 * statistics, right after a first sync, it would compare all of them with each other. Instead it looks up the
 * memberships of one user.
 */
function isSelected(user: string): string {
  return `exists (select ${selections} and m.user_id = ${user} offset 0)`;
}

/** Writes a page of users and the link to the next page. Writes nothing and returns false when the lease is lost. */
export async function writeUsers(
  database: Database,
  held: HeldSync,
  { link, last = false, users, removed, deleted }: UsersPage,
  { restricted, isComplete }: UserScope,
): Promise<boolean> {
  return write(database, held, usersText, [
    link ?? null,
    JSON.stringify(users),
    removed,
    restricted,
    isComplete,
    last,
    deleted,
  ]);
}

/**
 * Data of a permanently deleted user, whether in a group or not. It is kept until the next full read, because the state
 * that was applied before may be older.
 */
const deletedData = `'{"deleted": true}'::jsonb`;

const isDeleted = "coalesce(data ? 'deleted', false)";

const usersText = `with held as (
  update directory_syncs s set users_link = coalesce($5, users_link), users_read = users_read or $10, linked_at = clock_timestamp(), applied_revision = null
  where ${isHeld}
  returning generation
), gone as (
  update directory_users u set data = null, generation = held.generation from held
  where ${ofIntegration} and id = any($7::text[]) and data is not null
), deleted as (
  insert into directory_users as u (account_id, integration_id, id, generation, data)
  select $1, $2, x.id, held.generation, ${deletedData} from held, unnest($11::text[]) as x(id)
  on conflict (account_id, integration_id, id) do update set generation = excluded.generation, data = excluded.data
), users as (
  insert into directory_users as u (account_id, integration_id, id, generation, data)
  select $1, $2, x.id, held.generation, x.data from held, json_to_recordset($6::json) as x(id text, data jsonb)
  where exists (select from directory_users k where k.account_id = $1 and k.integration_id = $2 and k.id = x.id and k.generation = held.generation)
    or ((not $8 or ${isSelected('x.id')}) and ($9 or not $8))
  on conflict (account_id, integration_id, id) do update set generation = excluded.generation,
    data = case when u.generation = excluded.generation then (coalesce(u.data, '{}') - 'deleted') || excluded.data else excluded.data end
)
select 1 from held`;

/** Returns members of selecting groups whose user data is not stored yet, after an id. */
export async function unknownMembers(
  database: Database,
  { account, integration }: HeldSync,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly user_id: string }>(unknownText, [account, integration, after, limit]),
  ]);
  return rows.map(({ user_id: id }) => id);
}

const unknownText = `select distinct x.user_id from (select m.user_id ${selections}) x where x.user_id > $3
and not exists (select from directory_users u, directory_syncs c where u.account_id = $1 and u.integration_id = $2 and u.id = x.user_id
  and c.account_id = $1 and c.integration_id = $2 and u.generation = c.generation)
order by 1 limit $4`;

/**
 * Ends a read: deletes what a full read did not see, and users whom no group selects any more. Returns false when the
 * lease is lost.
 */
export async function finishRead(database: Database, held: HeldSync, restricted: boolean): Promise<boolean> {
  const own = heldParameters(held);
  const [rows] = await database.inAccount(
    held.account,
    [
      statement<object>(`update directory_syncs s set "full" = false where ${isHeld} returning 1`, own),
      ...['directory_groups', 'directory_members', 'directory_users'].map((table) =>
        statement<object>(forgetText(table), own),
      ),
      statement<object>(outsideText, [...own, restricted]),
    ],
    { write: true },
  );
  return rows.length > 0;
}

function forgetText(table: string): string {
  return `delete from ${table} t using directory_syncs s where t.account_id = $1 and t.integration_id = $2
    and ${isHeld} and t.generation < s.generation`;
}

const outsideText = `delete from directory_users u using directory_syncs s where u.account_id = $1 and u.integration_id = $2
  and ${isHeld} and $5 and not ${isDeleted} and not ${isSelected('u.id')}`;

/** Stored copy of the selected part of a directory. */
export interface Mirror {
  readonly users: readonly { readonly id: string; readonly data: JsonObject }[];
  /** Ids of permanently deleted users. */
  readonly deleted: readonly string[];
  readonly groups: readonly { readonly id: string; readonly name: string; readonly members: readonly string[] }[];
}

/** Reads the whole copy in one snapshot. */
export async function readMirror(database: Database, account: string, integration: string): Promise<Mirror> {
  const own = [account, integration];
  const [users, deleted, groups, members] = await database.inAccount(
    account,
    [
      statement<Mirror['users'][number]>(
        `select id, data from directory_users where ${ofIntegration} and data is not null and not ${isDeleted} order by id`,
        own,
      ),
      statement<{ readonly id: string }>(
        `select id from directory_users where ${ofIntegration} and ${isDeleted} order by id`,
        own,
      ),
      statement<{ readonly id: string; readonly name: string }>(
        `select id, name from directory_groups where ${ofIntegration} order by id`,
        own,
      ),
      statement<{ readonly id: string; readonly users: readonly string[] }>(membersText, own),
    ],
    { snapshot: true },
  );
  const known = new Set(users.map(({ id }) => id));
  const usersOf = new Map(members.map(({ id, users: listed }) => [id, listed.filter((user) => known.has(user))]));
  return {
    users,
    deleted: deleted.map(({ id }) => id),
    groups: groups.map((group) => ({ ...group, members: usersOf.get(group.id) ?? [] })),
  };
}

// Not joined with users, because right after the first sync Postgres has no statistics for choosing a good plan.
const membersText = `select group_id as id, array_agg(user_id order by user_id) as users from directory_members
where ${ofIntegration} group by group_id`;

async function write(database: Database, held: HeldSync, text: string, values: readonly unknown[]): Promise<boolean> {
  const parameters = [...heldParameters(held), ...values];
  const [rows] = await database.inAccount(held.account, [statement<object>(text, parameters)], { write: true });
  return rows.length > 0;
}
