import type { Database } from '../../../db/database.ts';
import {
  endRead,
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
import { type DirectoryClient, endless, usersAtOnce } from './client.ts';
import { DirectoryFailure } from './failure.ts';
import type { GroupDelta, UserDelta } from './items.ts';
import { isSelected, type Prefixes } from './settings.ts';

/** What reads a directory into what is kept of it. */
export interface Reader {
  readonly database: Database;
  readonly held: HeldSync;
  readonly client: DirectoryClient;
  /** Stands for the settings. */
  readonly basis: string;
  readonly prefixes: Prefixes;
  /** Throws when reading has to stop. */
  proceed(): void;
}

/** The lease is lost: another server reads. */
export class SyncLost extends Error {}

/** How what was read differs from what was known. */
export interface ReadResult {
  readonly changed: boolean;
  /** Everything was read anew. */
  readonly full: boolean;
}

/** A link lives seven days; it is replaced after one although nothing changed. */
const linkLifeMs = 24 * 60 * 60 * 1000;

/**
 * Brings what is kept of a directory up to date: what changed since the last time, or everything where the directory does not
 * know that any more. A page is written with where the list goes on, so that a run which ends in the middle is continued.
 * Throws `DirectoryFailure`, and `SyncLost`.
 */
export async function readDirectory(reader: Reader): Promise<ReadResult> {
  const { database, held, basis } = reader;
  const present = await readSync(database, held.account, held.integration);
  const row = present?.basis === basis ? present : await restart(reader);
  try {
    return await readLists(reader, row);
  } catch (error) {
    if (!(error instanceof DirectoryFailure && error.outcome === 'expired')) throw error;
    return await readLists(reader, await restart(reader));
  }
}

async function restart({ database, held, basis }: Reader): Promise<DirectorySyncRow> {
  required(await beginFullSync(database, held, basis));
  const row = await readSync(database, held.account, held.integration);
  if (row === undefined) throw new SyncLost();
  return row;
}

async function readLists(reader: Reader, row: DirectorySyncRow): Promise<ReadResult> {
  // Groups come first: they select the users.
  const groups = await readGroupList(reader, row);
  const users = await readUserList(reader, row);
  const joined = await readJoined(reader);
  const changed = groups || users || joined;
  // A run that ended in the middle may have left something to do.
  if (changed || row.full || row.applied_revision === null)
    required(await endRead(reader.database, reader.held, isRestricted(reader)));
  return { changed, full: row.full };
}

function isRestricted({ prefixes }: Reader): boolean {
  return prefixes.users.length > 0;
}

/** Whether a page without anything in it is written: the link before it is as good. */
function isWorthKeeping({ full, link_age_ms: age }: DirectorySyncRow): boolean {
  return full || age === null || age > linkLifeMs;
}

async function readGroupList(reader: Reader, row: DirectorySyncRow): Promise<boolean> {
  let link = row.groups_link;
  let changed = false;
  const seen = new Set([link]);
  for (;;) {
    reader.proceed();
    const page = await reader.client.groups(link);
    if (!page.last && seen.has(page.link)) throw endless();
    if (page.items.length > 0 || !page.last || isWorthKeeping(row)) {
      const work = await selectGroups(reader, row, page.items);
      required(await writeGroups(reader.database, reader.held, { link: page.link, last: page.last, ...work }));
    }
    changed ||= page.items.length > 0;
    if (page.last) return changed;
    link = page.link;
    seen.add(link);
  }
}

/** What the prefixes leave of a page of groups. */
async function selectGroups(
  { database, held, client, prefixes }: Reader,
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
  for (const { id, removed, name = names.get(id), joined, left } of items) {
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
    // Of a group that was not selected until now, the directory says what changed and not who was in it.
    const whole = !isRead || isKnown ? { joined, left } : { joined: await client.members(id), left: [] };
    for (const user of whole.left) members.set(`${id} ${user}`, { group: id, user, isIn: false });
    for (const user of whole.joined) members.set(`${id} ${user}`, { group: id, user, isIn: true });
  }
  const kept = [...members.values()].filter(({ group }) => groups.has(group));
  const those = (isIn: boolean) => kept.filter((one) => one.isIn === isIn).map(({ group, user }) => ({ group, user }));
  return { groups: [...groups.values()], gone: [...gone], joined: those(true), left: those(false) };
}

function selectGroup(prefixes: Prefixes, id: string, name: string): MirroredGroup | undefined {
  const synced = isSelected(name, prefixes.groups);
  const selecting = prefixes.users.length > 0 && isSelected(name, prefixes.users);
  return synced || selecting ? { id, name, synced, selecting } : undefined;
}

async function readUserList(reader: Reader, row: DirectorySyncRow): Promise<boolean> {
  const scope = { restricted: isRestricted(reader), whole: !row.users_read };
  let link = row.users_link;
  let changed = false;
  const seen = new Set([link]);
  for (;;) {
    reader.proceed();
    const page = await reader.client.users(link);
    if (!page.last && seen.has(page.link)) throw endless();
    if (page.items.length > 0 || !page.last || isWorthKeeping(row))
      required(
        await writeUsers(
          reader.database,
          reader.held,
          { link: page.link, last: page.last, ...latest(page.items) },
          scope,
        ),
      );
    changed ||= page.items.length > 0;
    if (page.last) return changed;
    link = page.link;
    seen.add(link);
  }
}

/** A page may say more than one thing about a user: the last one counts. */
function latest(items: readonly UserDelta[]): Pick<UsersPage, 'users' | 'gone' | 'deleted'> {
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
  return { users: [...users.values()], gone: [...gone], deleted: [...deleted] };
}

/** Who came into a group that selects its members was no concern until now. */
async function readJoined(reader: Reader): Promise<boolean> {
  if (!isRestricted(reader)) return false;
  const { database, held, client } = reader;
  let changed = false;
  let after = '';
  for (;;) {
    const ids = await unknownMembers(database, held, after, usersAtOnce);
    const last = ids.at(-1);
    if (last === undefined) return changed;
    reader.proceed();
    const found = await client.findUsers(ids);
    if (found.length > 0) required(await writeUsers(database, held, latest(found), { restricted: true, whole: true }));
    changed ||= found.length > 0;
    after = last;
  }
}

function required(written: boolean): void {
  if (!written) throw new SyncLost();
}
