import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createToken } from '../../src/db/accounts/tokens.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import { makeToken } from '../../src/lib/token.ts';
import { putObjects } from '../setup/objects.ts';
import { operationsOf } from './described.ts';
import { type Asker, askers, createRoleTable } from './role-table.ts';
import type { TestApi } from './setup.ts';

/** Sends every request whose path is chosen as every caller, and compares the answers with the role matrix. */
export async function checkRoles(api: TestApi, isChosen: (path: string) => boolean = () => true): Promise<void> {
  const { app, call, engine } = api;
  const table = createRoleTable(engine.registry);
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  const operations = operationsOf((await call('GET', '/api/openapi.json')).body).filter(({ path }) => isChosen(path));
  const faults: string[] = [];
  for (const asker of askers) {
    const secret = await tokenFor(api, asker);
    await Promise.all(
      operations.map(async ({ name, method, path }) => {
        const mark = table.expected(name, asker);
        if (mark === undefined) return;
        const status = await ask(base, method.toUpperCase(), path, secret);
        if ((status === 403) !== (mark === 'no'))
          faults.push(`${asker.name}: ${name} is answered ${status}, not ${mark}`);
        if (status === 401 || status >= 500) faults.push(`${asker.name}: ${name} is answered ${status}`);
      }),
    );
  }
  expect(faults).toEqual([]);
}

/** Creates a user and returns a token of this user. */
async function tokenFor({ engine, account }: TestApi, { name, role, isServiceUser, planOnly }: Asker): Promise<string> {
  const id = engine.newId();
  const secret = makeToken('nbp_', randomBytes(32));
  const at = engine.now();
  await putObjects(engine, account, (state) => {
    const [owner] = state.ofKind('User');
    if (owner === undefined) throw new Error('no owner');
    const spec = { ...owner.spec, name, role, is_service_user: isServiceUser };
    return [{ ...owner, id, name, key: name, spec }];
  });
  const expiresAt = new Date(Date.parse(at) + 86_400_000).toISOString();
  const token = { account, id: engine.newId(), user: id, name, hash: hashToken(secret), createdBy: id, createdAt: at };
  await createToken(
    engine.database,
    { ...token, expiresAt, planOnly },
    {
      actor: { type: 'system', id: 'test', name: 'test' },
      at,
      event: { code: 'personal.access.token.create', target: id, meta: {} },
    },
    (await engine.snapshots.fresh(account)).revision,
  );
  return secret;
}

/**
 * Sends a request for an object that does not exist. Returns the status: the server checks the caller's rights before
 * it looks for the object.
 */
async function ask(base: string, method: string, path: string, secret: string): Promise<number> {
  const ended = new AbortController();
  const response = await fetch(`${base}${path.replace(/\{n\}/g, '1000000').replace(/\{\w+\}/g, 'nothing')}`, {
    method,
    headers: { authorization: `Token ${secret}`, 'content-type': 'application/json' },
    ...(method === 'POST' || method === 'PUT' ? { body: '{}' } : {}),
    signal: ended.signal,
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) ended.abort();
  else await response.arrayBuffer();
  return response.status;
}
