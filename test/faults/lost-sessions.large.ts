import { expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { apiOn } from '../api/setup.ts';
import { testDatabase } from '../setup/database.ts';

const waiting = statement<{ readonly pid: number }>(
  `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  [],
);

it('a write with a broken connection is ended in Postgres before it is retried, so that it cannot commit later', async () => {
  await using made = await testDatabase('postgres');
  const truth = made.database;
  const impatient = await openDatabase({ url: made.url ?? '', poolSize: 4, silenceMs: 500 });
  await using api = await apiOn(impatient, () => impatient.close());
  const [owner] = (await api.engine.snapshots.current(api.account)).ofKind('User');
  const sessions = async () => (await truth.lookUp(waiting)).map(({ pid }) => pid);
  const { asked, first } = await truth.withAccountLock(api.account, async () => {
    const asked = api.call('POST', `/api/users/${owner?.id}/tokens`, { name: 'ci', expires_in: 1 });
    await expect.poll(sessions).toHaveLength(1);
    const [first] = await sessions();
    // The server gives up the silent connection. In Postgres the statement still waits for the account lock, and would
    // be executed after it.
    await expect.poll(async () => (await sessions()).some((pid) => pid !== first)).toBe(true);
    expect(await sessions()).not.toContain(first);
    return { asked, first };
  });
  expect([first !== undefined, (await asked).status]).toEqual([true, 200]);
  const tokens = statement<{ readonly name: string }>('select name from tokens', []);
  expect((await truth.lookUp(tokens)).filter(({ name }) => name === 'ci')).toHaveLength(1);
});
