import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ensureOperatorToken, isOperatorToken } from '../../src/features/auth/operator.ts';
import { asOperator, operatorToken, sharedApi } from '../api/setup.ts';
import { temporaryDirectory } from '../setup/database.ts';

const api = sharedApi();

it("the operator's token opens what is the operator's, and no account", async () => {
  const { call } = api();
  expect((await call('GET', '/metrics', undefined, asOperator)).status).toBe(200);
  const refused = await call('GET', '/api/groups', undefined, asOperator);
  expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining('opens no account')]);
});

it("only the operator's token is the operator's, and strangers see less", async () => {
  const { call, app } = api();
  const owner = await call('GET', '/metrics');
  expect([owner.status, owner.body.message]).toEqual([403, expect.stringContaining('for its operator alone')]);
  expect((await app.inject('/metrics')).statusCode).toBe(401);
  for (const token of [`${operatorToken.slice(0, -1)}x`, 'nbo_', 'nothing'])
    expect((await call('GET', '/metrics', undefined, { authorization: `Bearer ${token}` })).status).toBe(401);
});

it('is closed to everybody where there is no token', () => {
  expect(isOperatorToken(undefined, '')).toBe(false);
  expect(isOperatorToken(undefined, 'undefined')).toBe(false);
});

it('is made once, for its owner to read', async () => {
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

it('goes on without one where no file can be kept, and says how to give one', async () => {
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
