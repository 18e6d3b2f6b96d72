import { expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { newKeyText } from '../../src/db/sealing/keys.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { serveHeddle } from '../setup/heddle.ts';
import { startPostgres } from '../setup/server.ts';
import { callerOf } from './enrolling.ts';
import { token } from './replicas.ts';

// Simulates a full disk: neither objects can be inserted, nor the table with which the server checks whether there is
// space again.
const fillUp = [
  `create function full_disk() returns trigger language plpgsql as
     $$ begin raise 'could not extend file' using errcode = '53100'; end $$`,
  'create trigger full_disk before insert on objects execute function full_disk()',
  `create function full_disk_too() returns event_trigger language plpgsql as
     $$ begin raise 'could not extend file' using errcode = '53100'; end $$`,
  `create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE AS') execute function full_disk_too()`,
];
const makeRoom = ['drop event trigger full_disk', 'drop trigger full_disk on objects'];

it('a full database disk is reported by one log line and by readiness until there is room', async () => {
  await using postgres = await startPostgres();
  const env = { HEDDLE_DATABASE_URL: postgres.url(), HEDDLE_BOOTSTRAP_TOKEN: token, HEDDLE_SECRET_KEY: newKeyText() };
  await using server = await serveHeddle(['--data-dir', await temporaryDirectory()], { env });
  const call = callerOf(server);
  const database = await openDatabase({ url: postgres.url(), poolSize: 1 });
  const create = async (name: string) => (await call('POST', '/api/groups', { name })).status;
  const small = (await call('POST', '/api/groups', { name: 'small' })).body.id;
  await database.asOwner(fillUp);
  expect([await create('one'), await create('two')]).toEqual([503, 503]);
  const unready = await call('GET', '/readyz');
  expect([unready.status, unready.body]).toEqual([
    503,
    expect.objectContaining({
      message: expect.stringMatching(/^the disk of the database is full; .* until disk space is freed$/),
    }),
  ]);
  expect((await call('GET', '/api/groups?name=All')).status).toBe(200);
  // A small write may find space when a larger write does not.
  expect((await call('DELETE', `/api/groups/${small}`)).status).toBe(200);
  expect((await call('GET', '/readyz')).status).toBe(503);
  await database.asOwner(makeRoom);
  await server.line(/the disk of the database has space again/);
  expect([(await call('GET', '/readyz')).status, await create('one')]).toEqual([200, 200]);
  const reported = server.lines.filter((line) => line.includes('the disk of the database'));
  expect(reported).toEqual([
    expect.stringMatching(/error: the disk of the database is full: the server answers writes with 503/),
    expect.stringMatching(/has space again: this server accepts writes/),
  ]);
  await database.close();
});
