import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { storedObject } from '../../src/commit/bootstrap.ts';
import { statement } from '../../src/db/builder.ts';
import type { Database } from '../../src/db/database.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { emptySnapshot } from '../../src/model/state/snapshot.ts';
import { invitee } from '../api/people.ts';
import { apiOn, type TestApi } from '../api/setup.ts';
import { actor, putAll } from '../commit/office.ts';
import { testDatabase } from '../setup/database.ts';

const waitingText = `select count(*)::int as waiting from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'`;

/**
 * Runs a write while another session has the lock that `lock` takes. The connection of the first sending breaks while
 * the statement waits for that lock, and the lock is released when the second sending waits behind the first.
 */
async function sentTwice(lock: string, write: (api: TestApi) => Promise<void>): Promise<void> {
  const made = await testDatabase('postgres');
  const inner = made.database;
  const holder = new pg.Client({ connectionString: made.url });
  await holder.connect();
  let sendings = 0;
  const send = async <Rows>(run: () => Promise<Rows>): Promise<Rows> => {
    sendings += 1;
    const running = run();
    if (sendings > 2) return running;
    running.catch(() => {});
    await expect.poll(() => inner.lookUp(statement(waitingText, []))).toEqual([{ waiting: sendings }]);
    if (sendings === 1) throw new Unavailable('the connection was reset', { inDoubt: true });
    await holder.query('rollback');
    return running;
  };
  let isArmed = false;
  const inAccount = (account: string, statements: readonly CompiledQuery<unknown>[], options?: { write?: boolean }) => {
    const run = () => inner.inAccount(account, statements, options);
    return isArmed && options?.write === true ? send(run) : run();
  };
  const database: Database = {
    engine: inner.engine,
    // The rows are those of the inner database.
    inAccount: inAccount as unknown as Database['inAccount'],
    withAccountLock: (account, work, by) => inner.withAccountLock(account, work, by),
    lookUp: (query) => inner.lookUp(query),
    asOwner: (work, more) => (isArmed ? send(() => inner.asOwner(work, more)) : inner.asOwner(work, more)),
    countWrittenRows: (rows) => inner.countWrittenRows(rows),
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
  await using api = await apiOn(database, async () => {
    await holder.end();
    await made[Symbol.asyncDispose]();
  });
  await holder.query('begin');
  await holder.query(lock);
  isArmed = true;
  await write(api);
  expect(sendings).toBe(2);
}

const head = 'select revision from accounts for no key update';

const rowsOf = (api: TestApi, text: string) => api.engine.database.lookUp(statement(text, []));

describe('a write that is sent again while its first attempt is still running', () => {
  it('creates a group once and returns its id', () =>
    sentTwice(head, async (api) => {
      const { status, body } = await api.call('POST', '/api/groups', { name: 'devs' });
      expect(status).toBe(200);
      expect(await rowsOf(api, "select id from objects where name = 'devs'")).toEqual([{ id: body.id }]);
    }));

  it('records a source once, in one revision', () =>
    sentTwice(head, async (api) => {
      const source = { id: 'office', type: 'git', spec: { url: 'https://example.com/a.git' } };
      await recordSource(api.engine, { account: api.account, actor }, source);
      expect(await rowsOf(api, 'select id, generation from sources')).toEqual([{ id: 'office', generation: 1 }]);
      expect(await rowsOf(api, "select revision from revisions where source_id = 'office'")).toHaveLength(1);
    }));

  it('creates an invite once and returns its valid token', () =>
    sentTwice(head, async (api) => {
      const { status, body } = await api.call('POST', '/api/users/invites', invitee({}));
      expect(status).toBe(200);
      expect(await rowsOf(api, 'select id from invites')).toEqual([{ id: body.id }]);
      expect((await api.call('GET', `/api/users/invites/${body.invite_token}`)).body.valid).toBe(true);
    }));

  it('creates a token once and returns its id', () =>
    sentTwice(head, async (api) => {
      const owner = (await api.engine.snapshots.current(api.account)).ofKind('User')[0]?.id;
      const { status, body } = await api.call('POST', `/api/users/${owner}/tokens`, { name: 't', expires_in: 1 });
      expect(status).toBe(200);
      const stored = await rowsOf(api, "select id from tokens where name = 't'");
      expect(stored).toEqual([{ id: body.personal_access_token.id }]);
    }));

  it('creates an account once', () =>
    sentTwice("insert into accounts (account_id, created_at) values ('second', now())", async ({ engine }) => {
      const kind = engine.registry.get('Group');
      const { spec } = canonicalSpec(kind, { name: 'first' });
      const result = await engine.committer.mutateTogether({
        ...{ actor, accounts: [], newAccount: emptySnapshot(engine.registry, 'second') },
        entries: [{ account: 'second', kind: 'domain', value: 'second.example.com', subject: 'second' }],
        propose: (stateOf) => {
          const object = { id: 'g1', kind: kind.name, spec, derived: {} };
          const after = storedObject(engine, object, engine.now());
          return { second: putAll(engine, stateOf('second'), [{ after }]) };
        },
      });
      expect(result.ok).toBe(true);
      expect((await engine.snapshots.fresh('second')).ofKind('Group')).toHaveLength(1);
    }));
});
