import { randomBytes } from 'node:crypto';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { statement } from '../../src/db/builder.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import type { Call, TestApi } from './setup.ts';

let count = 0;

/** Returns the body of a new user with a unique email address. */
export function person(change: JsonObject = {}): JsonObject & { readonly email: string } {
  count += 1;
  const email = `somebody${count}@example.com`;
  return { name: 'Ana', email, role: 'user', auto_groups: [], is_service_user: false, ...change } as JsonObject & {
    readonly email: string;
  };
}

/** Returns the body of an invite with a unique email address. */
export function invitee(change: JsonObject = {}): JsonObject {
  const { is_service_user: _, ...body } = person(change);
  return body;
}

/** Creates a token for a user, and returns a function that calls with it. */
export async function callAs(own: TestApi, user: string): Promise<Call> {
  const value = makeToken('nbp_', randomBytes(32));
  await insertToken(own.engine.database, {
    ...{ account: own.account, id: own.engine.newId(), user, name: 'test', hash: hashToken(value), createdBy: user },
    ...{ createdAt: '2026-01-01T00:00:00Z', expiresAt: '2126-01-01T00:00:00Z' },
  });
  return (method, url, body, headers) => own.call(method, url, body, { authorization: `Token ${value}`, ...headers });
}

/** Returns a function that calls without credentials. */
export function callAsAnonymous(own: TestApi): Call {
  return (method, url, body, headers) => own.call(method, url, body, { authorization: '', ...headers });
}

/** Returns the newest audit events of an account, as `code target`. */
export async function newestEvents(own: TestApi, many: number): Promise<readonly string[]> {
  const events: readonly JsonObject[] = (await own.call('GET', '/api/events/audit')).body;
  return events.slice(0, many).map(({ activity_code: code, target_id: target }) => `${code} ${target}`);
}

/** Returns the number of rows of a table that satisfy a condition. */
export async function rowsOf(own: TestApi, table: string, condition = 'true'): Promise<number> {
  const text = `select count(*) as count from ${table} where ${condition}`;
  const [row] = await own.engine.database.lookUp(statement<{ readonly count: number }>(text, []));
  return row?.count ?? 0;
}
