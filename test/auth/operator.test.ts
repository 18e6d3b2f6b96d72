import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ensureOperatorToken, isOperatorToken } from '../../src/features/auth/operator.ts';
import { asOperator, operatorToken, sharedApi } from '../api/setup.ts';
import { temporaryDirectory } from '../setup/database.ts';

const api = sharedApi();

it("the operator's token gives access to operator endpoints, and to no account", async () => {
  const { call } = api();
  expect((await call('GET', '/metrics', undefined, asOperator)).status).toBe(200);
  const refused = await call('GET', '/api/groups', undefined, asOperator);
  expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining('not valid in any account')]);
});

it("operator endpoints accept only the operator's token: 403 for an owner, 401 without a valid token", async () => {
  const { call, app } = api();
  const owner = await call('GET', '/metrics');
  expect([owner.status, owner.body.message]).toEqual([403, expect.stringContaining('is for its operator only')]);
  expect((await app.inject('/metrics')).statusCode).toBe(401);
  for (const token of [`${operatorToken.slice(0, -1)}x`, 'nbo_', 'nothing'])
    expect((await call('GET', '/metrics', undefined, { authorization: `Bearer ${token}` })).status).toBe(401);
});

it('without a configured operator token every token is refused', () => {
  expect(isOperatorToken(undefined, '')).toBe(false);
  expect(isOperatorToken(undefined, 'undefined')).toBe(false);
});

it('the operator token is created once, readable by its owner only', async () => {
  const dataDir = await temporaryDirectory();
  const reported: string[] = [];
  const options = { dataDir, token: undefined, report: (_: string, message: string) => reported.push(message) };
  const token = await ensureOperatorToken(options);
  expect(await ensureOperatorToken(options)).toBe(token);
  const path = join(dataDir, 'operator-token');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(reported).toEqual([`wrote the operator's token to ${path}`]);
  await writeFile(path, 'nonsense');
  await expect(ensureOperatorToken(options)).rejects.toThrow('heddle token new --operator');
  expect(await readFile(path, 'utf8')).toBe('nonsense');
});

it('without a writable file the server starts without an operator token and reports how to set one', async () => {
  const dataDir = join(await temporaryDirectory(), 'file');
  await writeFile(dataDir, '');
  const reported: string[] = [];
  const token = await ensureOperatorToken({
    dataDir,
    token: undefined,
    report: (level, message) => reported.push(`${level} ${message}`),
  });
  expect([token, reported]).toEqual([undefined, [expect.stringMatching(/^warn .*HEDDLE_OPERATOR_TOKEN/)]]);
});
