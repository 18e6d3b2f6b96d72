import { expect, it } from 'vitest';
import { createTokenLookUp, insertToken } from '../../src/db/accounts/tokens.ts';
import type { Database } from '../../src/db/database.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';

eachEngine('the token lookup on %s', (engine) => {
  it('uses one query for all requests of an event-loop turn, and returns each its own token', async () => {
    await using made = await testDatabase(engine);
    for (const name of ['a', 'b']) await addToken(made.database, name);
    let queries = 0;
    const find = createTokenLookUp({
      ...made.database,
      lookUp: (statement) => {
        queries += 1;
        return made.database.lookUp(statement);
      },
    });
    const found = await Promise.all(['hash-a', 'hash-b', 'hash-a', 'hash-c'].map((hash) => find(hash)));
    expect(found.map((owner) => owner?.account)).toEqual(['a', 'b', 'a', undefined]);
    expect(queries).toBe(1);
    await find('hash-a');
    expect(queries).toBe(2);
  });

  it('batches the requests that arrive during a query into the next query', async () => {
    await using made = await testDatabase(engine);
    await addToken(made.database, 'a');
    const asked: (readonly unknown[])[] = [];
    let answer = () => {};
    const find = createTokenLookUp({
      ...made.database,
      lookUp: async (statement) => {
        asked.push(statement.parameters);
        if (asked.length === 1) await new Promise<void>((resolve) => (answer = resolve));
        return made.database.lookUp(statement);
      },
    });
    const first = find('hash-a');
    await expect.poll(() => asked.length).toBe(1);
    const others = ['hash-a', 'hash-b'].map((hash) => find(hash));
    answer();
    const found = await Promise.all([first, ...others]);
    expect(found.map((owner) => owner?.account)).toEqual(['a', 'a', undefined]);
    expect(asked).toEqual([['hash-a'], [['hash-a', 'hash-b']]]);
  });

  it('does not wait for a query that never returns', async () => {
    await using made = await testDatabase(engine);
    await addToken(made.database, 'a');
    let asked = 0;
    const find = createTokenLookUp({
      ...made.database,
      lookUp: (statement) => {
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : made.database.lookUp(statement);
      },
    });
    void find('hash-a');
    await expect.poll(() => asked).toBe(1);
    expect((await find('hash-a'))?.account).toBe('a');
  });

  it('fails for all requests of a failed query, and succeeds for the next', async () => {
    await using made = await testDatabase(engine);
    await addToken(made.database, 'a');
    let broken = true;
    const find = createTokenLookUp({
      ...made.database,
      lookUp: async (statement) => {
        if (broken) throw new Error('gone');
        return made.database.lookUp(statement);
      },
    });
    const results = await Promise.allSettled([find('hash-a'), find('hash-b')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect((await find('hash-a'))?.account).toBe('a');
  });
});

async function addToken(database: Database, account: string): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z';
  await database.asOwner(async (run) => {
    await run('insert into accounts (account_id, created_at) values ($1, $2)', [account, at]);
  });
  const token = { account, id: 't', user: 'u', name: 'test', createdBy: 'u', createdAt: at, expiresAt: at };
  await insertToken(database, { ...token, hash: `hash-${account}` });
}
