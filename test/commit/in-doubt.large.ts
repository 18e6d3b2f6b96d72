import { describe, expect, it } from 'vitest';
import { writeUntilKnown } from '../../src/commit/in-doubt.ts';
import { openDatabase } from '../../src/db/database.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { testDatabase } from '../setup/database.ts';
import { checkKilledConnections } from './killed-connections.ts';

describe('a commit on a killed connection', () => {
  it('E96 is written exactly once if acknowledged and not at all if refused, with two servers writing', () =>
    checkKilledConnections(300, 60));
});

it('a write stays in doubt, for the reason that the database accepts no writes since its connection broke', async () => {
  await using made = await testDatabase('postgres');
  const url = new URL(made.url ?? '');
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const readOnly = await openDatabase({ url: url.href });
  const write = async (again: boolean): Promise<void> => {
    if (!again) throw new Unavailable('the connection was reset', { inDoubt: true });
    await readOnly.asOwner(["insert into accounts (account_id, created_at) values ('a', now())"], { write: 'short' });
  };
  await expect(writeUntilKnown({ requestId: 'request-1' }, write)).rejects.toMatchObject({
    ...{ inDoubt: true, requestId: 'request-1' },
    message:
      'the connection to the database broke during the write, and the database accepts no writes since then; whether the write happened is unknown: read before trying again',
  });
  await readOnly.close();
});
