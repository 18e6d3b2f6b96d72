import { afterAll, describe, expect, it } from 'vitest';
import type { Database, RowsOf } from '../../src/db/database.ts';
import { withInAccount, withoutAccountFilter } from '../setup/without-account-filter.ts';
import { apiOn, type TestApi } from './setup.ts';
import { type Ask, asker, tokens, twoAccounts } from './two-accounts.ts';

const { api, walk } = twoAccounts();

describe('another account on the same server', () => {
  let servers: readonly TestApi[] = [];
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  const serve = async (database: Database): Promise<Ask> => {
    const server = await apiOn(database, async () => {});
    servers = [...servers, server];
    return asker(server, tokens[0] ?? '');
  };

  it('is not visible in any answer, error or count', async () => {
    expect(await walk(asker(api(), tokens[0] ?? ''))).toEqual({});
  });

  it('is not visible when no statement filters by account: row-level security suffices', async () => {
    const { database } = api().engine;
    let without = 0;
    const ask = await serve(
      withoutAccountFilter(database, () => {
        without++;
      }),
    );
    expect(await walk(ask)).toEqual({});
    expect(without).toBeGreaterThan(50);
  });

  it('is not visible without row-level security: the statements suffice', async () => {
    const { database } = api().engine;
    const ask = await serve(
      withInAccount(database, async (_, statements) => {
        const answers: unknown[] = [];
        await database.asOwner(async (run) => {
          for (const { sql, parameters } of statements) answers.push(await run(sql, parameters));
        });
        // The result has one list of rows for each statement, in order.
        return answers as unknown as RowsOf<typeof statements>;
      }),
    );
    expect(await walk(ask)).toEqual({});
  });
});
