import type { Database } from '../../../db/database.ts';
import {
  finishRead,
  type GroupMember,
  type GroupsPage,
  knownGroups,
  type MirroredGroup,
  type UsersPage,
  unknownMembers,
  writeGroups,
  writeUsers,
} from '../../../db/directory-sync/mirror.ts';
import { beginFullSync, type DirectorySyncRow, type HeldSync, readSync } from '../../../db/directory-sync/progress.ts';
import { type DirectoryClient, endlessListFailure, maxUsersPerRequest } from './client.ts';
import { DirectoryFailure } from './failure.ts';
import type { GroupDelta, UserDelta } from './items.ts';
import { isSelected, type Prefixes } from './settings.ts';

/** Input of reading a directory into its stored copy. */
export interface DirectoryReader {
  readonly database: Database;
  readonly held: HeldSync;
  readonly client: DirectoryClient;
  /** Hash of the settings that decide what is read. */
  readonly basis: string;
  readonly prefixes: Prefixes;
  /** Called before each page. Throws when reading has to stop. */
  beforePage(): void;
}

/** Thrown when reading has to stop: the server stops, or the lease is lost and another server reads. */
export class SyncLost extends Error {}

/** How the data that was read differs from the stored copy. */
export interface ReadResult {
  readonly changed: boolean;
  /** Whether everything was read again. */
  readonly full: boolean;
}

/** Age at which a link is replaced even if nothing changed, in milliseconds: a day. A link lives seven days. */
const maxLinkAgeMs = 24 * 60 * 60 * 1000;

/**
 * Updates the stored copy of a directory with the changes since the last time. Reads everything when the directory does
 * not know that state any more. Each page is written together with the link at which the list continues, so that an
 * interrupted run is continued. Throws `DirectoryFailure`, and `SyncLost`.
 */
export async function readDirectory(reader: DirectoryReader): Promise<ReadResult> {
  const { database, held, basis } = reader;
  const present = await readSync(database, held.account, held.integration);
  const row = present?.basis === basis ? present : await restartFullSync(reader);
  try {
    return await readLists(reader, row);
  } catch (error) {
    if (!(error instanceof DirectoryFailure && error.outcome === 'expired')) throw error;
    return await readLists(reader, await restartFullSync(reader));
  }
}

async function restartFullSync({ database, held, basis }: DirectoryReader): Promise<DirectorySyncRow> {
  requireWritten(await beginFullSync(database, held, basis));
  const row = await readSync(database, held.account, held.integration);
  if (row === undefined) throw new SyncLost();
  return row;
}

async function readLists(reader: DirectoryReader, row: DirectorySyncRow): Promise<ReadResult> {
  // Groups are read first, because they select the users.
  const groups = await readGroupList(reader, row);
  const users = await readUserList(reader, row);
  const joined = await readJoinedUsers(reader);
  const changed = groups || users || joined;
  // An interrupted run may have left something to do.
  if (changed || row.full || row.applied_revision === null)
    requireWritten(await finishRead(reader.database, reader.held, isRestricted(reader)));
  return { changed, full: row.full };
}

function isRestricted({ prefixes }: DirectoryReader): boolean {
  return prefixes.users.length > 0;
}

/** Whether an empty page is written: usually the link before it is as good. */
function isWorthKeeping({ full, link_age_ms: age }: DirectorySyncRow): boolean {
  return full || age === null || age > maxLinkAgeMs;
}

async function readGroupList(reader: DirectoryReader, row: DirectorySyncRow): Promise<boolean> {
  let link = row.groups_link;
  let changed = false;
  const seen = new Set([link]);
  for (;;) {
    reader.beforePage();
    const page = await reader.client.groups(link);
    if (!page.last && seen.has(page.link)) throw endlessListFailure();
    if (page.items.length > 0 || !page.last || isWorthKeeping(row)) {
      const work = await selectGroups(reader, row, page.items);
      requireWritten(await writeGroups(reader.database, reader.held, { link: page.link, last: page.last, ...work }));
    }
    changed ||= page.items.length > 0;
    if (page.last) return changed;
    link = page.link;
    seen.add(link);
  }
}

/**
 * Selects the groups of a page by the prefixes. Returns the groups to store, the groups that are gone, and the members
 * who joined or left.
 */
async function selectGroups(
  { database, held, client, prefixes }: DirectoryReader,
  { groups_read: isRead, generation }: DirectorySyncRow,
  items: readonly GroupDelta[],
): Promise<Omit<GroupsPage, 'link' | 'last'>> {
  const names = new Map(
    items.length === 0
      ? []
      : await knownGroups(
          database,
          held,
          generation,
          items.map(({ id }) => id),
        ),
  );
  const groups = new Map<string, MirroredGroup>();
  const gone = new Set<string>();
  const members = new Map<string, GroupMember & { readonly isIn: boolean }>();
  for (const { id, removed, name = names.get(id), addedMembers, removedMembers } of items) {
    const isKnown = names.has(id);
    const group = removed || name === undefined ? undefined : selectGroup(prefixes, id, name);
    if (group === undefined) {
      groups.delete(id);
      names.delete(id);
      if (isKnown) gone.add(id);
      continue;
    }
    groups.set(id, group);
    gone.delete(id);
    names.set(id, group.name);
    // For a group that was not selected before, the directory reports what changed but not who was a member, so the
    // members are read.
    const whole =
      !isRead || isKnown
        ? { joined: addedMembers, left: removedMembers }
        : { joined: await client.members(id), left: [] };
    for (const user of whole.left) members.set(`${id} ${user}`, { group: id, user, isIn: false });
    for (const user of whole.joined) members.set(`${id} ${user}`, { group: id, user, isIn: true });
  }
  const kept = [...members.values()].filter(({ group }) => groups.has(group));
  const those = (isIn: boolean) => kept.filter((one) => one.isIn === isIn).map(({ group, user }) => ({ group, user }));
  return {
    groups: [...groups.values()],
    removedGroups: [...gone],
    addedMembers: those(true),
    removedMembers: those(false),
  };
}

function selectGroup(prefixes: Prefixes, id: string, name: string): MirroredGroup | undefined {
  const synced = isSelected(name, prefixes.groups);
  const selecting = prefixes.users.length > 0 && isSelected(name, prefixes.users);
  return synced || selecting ? { id, name, synced, selecting } : undefined;
}

async function readUserList(reader: DirectoryReader, row: DirectorySyncRow): Promise<boolean> {
  const scope = { restricted: isRestricted(reader), isComplete: !row.users_read };
  let link = row.users_link;
  let changed = false;
  const seen = new Set([link]);
  for (;;) {
    reader.beforePage();
    const page = await reader.client.users(link);
    if (!page.last && seen.has(page.link)) throw endlessListFailure();
    if (page.items.length > 0 || !page.last || isWorthKeeping(row))
      requireWritten(
        await writeUsers(
          reader.database,
          reader.held,
          { link: page.link, last: page.last, ...mergeUserItems(page.items) },
          scope,
        ),
      );
    changed ||= page.items.length > 0;
    if (page.last) return changed;
    link = page.link;
    seen.add(link);
  }
}

/** Merges the items of a page. A page may contain several items about a user, and the last one counts. */
function mergeUserItems(items: readonly UserDelta[]): Pick<UsersPage, 'users' | 'removed' | 'deleted'> {
  const users = new Map<string, UsersPage['users'][number]>();
  const gone = new Set<string>();
  const deleted = new Set<string>();
  for (const { id, data, ...item } of items) {
    const before = users.get(id);
    users.delete(id);
    gone.delete(id);
    deleted.delete(id);
    if (item.deleted) deleted.add(id);
    else if (item.removed) gone.add(id);
    else users.set(id, { id, data: { ...before?.data, ...data } });
  }
  return { users: [...users.values()], removed: [...gone], deleted: [...deleted] };
}

/**
 * Reads the users who joined a group that selects its members. They were out of scope before, so they are not stored
 * yet.
 */
async function readJoinedUsers(reader: DirectoryReader): Promise<boolean> {
  if (!isRestricted(reader)) return false;
  const { database, held, client } = reader;
  let changed = false;
  let after = '';
  for (;;) {
    const ids = await unknownMembers(database, held, after, maxUsersPerRequest);
    const last = ids.at(-1);
    if (last === undefined) return changed;
    reader.beforePage();
    const found = await client.findUsers(ids);
    if (found.length > 0)
      requireWritten(await writeUsers(database, held, mergeUserItems(found), { restricted: true, isComplete: true }));
    changed ||= found.length > 0;
    after = last;
  }
}

function requireWritten(written: boolean): void {
  if (!written) throw new SyncLost();
}
