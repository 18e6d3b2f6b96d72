import { expect, test } from 'vitest';
import { finishRead, writeUsers } from '../../../src/db/directory-sync/mirror.ts';
import { syncLease } from '../../../src/db/directory-sync/pending.ts';
import { beginFullSync } from '../../../src/db/directory-sync/progress.ts';
import { takeLease } from '../../../src/db/leases/leases.ts';
import { present } from '../../setup/present.ts';
import { openReading } from './scene.ts';

const idOf = (number: string) => `lpad((${number})::text, 36, '0')`;
const userId = (number: number) => String(number).padStart(36, '0');

/**
 * Opens an integration with 20,000 users and 160 groups of a thousand members each. The groups select all users except
 * those at both ends of the list.
 */
async function openLarge() {
  const { database, account, integration, rows } = await openReading({ user_group_prefixes: ['staff'] });
  const name = `${syncLease}${integration}`;
  const lease = present(await takeLease(database, { account, name, owner: 'test', seconds: 600 }));
  const held = { account, integration, lease };
  await beginFullSync(database, held, 'settings');
  const own = `'${account}', '${integration}'`;
  await database.asOwner([
    `insert into directory_groups select ${own}, ${idOf('n')}, 0, 'group ' || n, false, true from generate_series(1, 160) n`,
    `insert into directory_members select ${own}, ${idOf('g')}, ${idOf('g * 118 + n')}, 0
      from generate_series(1, 160) g, generate_series(1, 1000) n`,
    `insert into directory_users select ${own}, ${idOf('n')}, 0, '{}' from generate_series(0, 19999) n`,
  ]);
  return { database, held, rows };
}

test.each(['known', 'unknown'])(
  'users in no selected group are removed and not added among 160,000 memberships, with %s statistics',
  async (statistics) => {
    const { database, held, rows } = await openLarge();
    const tables = ['directory_syncs', 'directory_groups', 'directory_members', 'directory_users'];
    if (statistics === 'known') await database.asOwner([`analyze ${tables.join(', ')}`]);
    expect(await finishRead(database, held, true)).toBe(true);
    const ends = 'select count(*)::int as count, min(id) as first, max(id) as last from directory_users';
    expect(await rows(ends)).toEqual([{ count: 19_762, first: userId(119), last: userId(19_880) }]);
    const users = [118, 119, 20_000].map((number) => ({ id: userId(number), data: { seen: true } }));
    await writeUsers(database, held, { users, removed: [], deleted: [] }, { restricted: true, isComplete: true });
    expect(await rows("select id from directory_users where data <> '{}'")).toEqual([{ id: userId(119) }]);
  },
);
