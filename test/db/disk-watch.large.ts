import { CompiledQuery } from 'kysely';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { emptyDatabase } from '../setup/database.ts';
import { onConnection, onServer } from '../setup/sql.ts';

it('a full disk is forgotten when the role may not create the temporary table of the probe', async () => {
  const url = await emptyDatabase();
  const name = new URL(url).pathname.slice(1);
  await onConnection(url, async (ask) => {
    await ask(`create role probe_${name} login password 'weak'`);
    await ask(`revoke temporary on database ${name} from public`);
  });
  const as = new URL(url);
  [as.username, as.password] = [`probe_${name}`, 'weak'];
  const changes: boolean[] = [];
  const database = await openDatabase({ url: as.href, onDiskChange: (isFull) => changes.push(isFull) });
  const fill = "do $$ begin raise exception 'no space left' using errcode = '53100'; end $$";
  await expect(database.lookUp(CompiledQuery.raw(fill))).rejects.toThrow('the disk of the database is full');
  await expect(database.ping()).rejects.toThrow(Unavailable);
  await expect.poll(() => changes).toEqual([true, false]);
  await database.ping();
  await database.close();
  await onServer(url, `drop role probe_${name}`);
});
