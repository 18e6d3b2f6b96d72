import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootstrapAccount, type FirstObject, findOwner } from '../../commit/bootstrap.ts';
import type { Engine } from '../../commit/engine.ts';
import { countTokens, insertToken, listTokens } from '../../db/accounts/tokens.ts';
import { createDataDirectory, createFile, inDataDirectory } from '../../db/embedded/disk.ts';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { hashToken, tokenPrefix } from './authenticate.ts';

/** Settings for the machine owner of a first start and its token. */
export interface OwnerOptions {
  readonly dataDir: string;
  /** A well-formed token to use. `undefined`: a new token is written to `<dataDir>/token`. */
  readonly token: string | undefined;
  /** Id of the operator's account; absent when the settings do not name it. */
  readonly operatorAccount?: string | undefined;
  /** Returns the objects of a new account, given the id of the account and its owner. */
  firstObjects(account: string, owner: { readonly id: string; readonly name: string }): readonly FirstObject[];
  report(level: 'info' | 'warn', message: string): void;
}

/** Log line when the database does not record which account is the operator's. */
const noOperator =
  "this server has accounts, but none of them is recorded as the operator's; the operator's functions are refused until HEDDLE_OPERATOR_ACCOUNT names one by its id";

const ownerName = 'machine owner';
const lifetimeDays = 365;

/**
 * Returns the operator's account. At the first start, creates it with its machine owner and a token; later starts leave
 * it unchanged. Returns `undefined` when there are accounts and none is recorded as the operator's.
 */
export async function ensureMachineOwner(
  engine: Engine,
  options: OwnerOptions,
): Promise<{ readonly account: string } | undefined> {
  const ownerId = engine.newId();
  const actor = { type: 'system', id: 'sys', name: 'system' } as const;
  const ensured = await bootstrapAccount(
    engine,
    actor,
    (id) => options.firstObjects(id, { id: ownerId, name: ownerName }),
    options.operatorAccount,
  );
  if (ensured === undefined) {
    options.report('warn', noOperator);
    return undefined;
  }
  const { account, created } = ensured;
  if (created) options.report('info', `made the account ${account} with a machine owner`);
  if ((await countTokens(engine.database, account)) > 0) {
    if (options.token !== undefined)
      options.report('info', 'the account has its owner already; HEDDLE_BOOTSTRAP_TOKEN is ignored');
    return { account };
  }
  const state = await engine.snapshots.fresh(account);
  const owner = findOwner(state);
  if (owner === undefined) throw new Error(`the account ${account} has no owner`);
  const token = options.token ?? (await ensureTokenFile(options));
  const now = engine.now();
  const expiresAt = new Date(Date.parse(now) + lifetimeDays * 86_400_000).toISOString();
  await insertToken(engine.database, {
    account,
    id: engine.newId(),
    user: owner.id,
    name: 'bootstrap',
    hash: hashToken(token),
    createdBy: owner.id,
    createdAt: now,
    expiresAt,
  });
  if (options.token !== undefined)
    options.report(
      'info',
      `the machine owner uses the token from HEDDLE_BOOTSTRAP_TOKEN, valid until ${expiresAt.slice(0, 10)}`,
    );
  return { account };
}

const dayMs = 86_400_000;

/** Number of days before its expiry at which the last token of the machine owner is reported. */
const noticeDays = 30;

/**
 * Reports once a day that the last token of the machine owner is about to expire, because programs that use it would
 * stop working. Returns a function that ends the reports.
 */
export function watchMachineToken(
  { database, snapshots }: Pick<Engine, 'database' | 'snapshots'>,
  account: string,
  { report, now }: Pick<OwnerOptions, 'report'> & { now(): number },
): () => Promise<void> {
  const look = async (): Promise<void> => {
    const owner = (await snapshots.fresh(account)).ofKind('User').find(({ derived }) => derived.system === 'owner');
    const tokens = owner === undefined ? [] : await listTokens(database, account, owner.id);
    const end = Math.max(...tokens.map(({ expires_at: ends }) => ends.getTime()));
    if (owner === undefined || tokens.length === 0 || end - now() > noticeDays * dayMs) return;
    const date = new Date(end).toISOString().slice(0, 10);
    const message =
      end > now()
        ? `expires on ${date}; use it to make another one (POST /api/users/${owner.id}/tokens), or give the programs that use it tokens of service users`
        : `expired on ${date}; give the programs that used it tokens of service users`;
    report('warn', `the token of the machine owner ${message}`);
  };
  // When reading fails, the next attempt is on the next day.
  const start = (): Promise<void> => look().catch(() => undefined);
  let looking = start();
  const timer = setInterval(() => {
    looking = start();
  }, dayMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await looking;
  };
}

/**
 * Returns the token in the token file, which is created when it does not exist. The file is written before its token is
 * stored: when a start is killed between the two steps, the next start finds the file and uses its token.
 */
async function ensureTokenFile({ dataDir, report }: OwnerOptions): Promise<string> {
  const path = join(dataDir, 'token');
  const token = makeToken(tokenPrefix, randomBytes(tokenRandomBytes));
  const isNew = await inDataDirectory(dataDir, async () => {
    await createDataDirectory(dataDir);
    return createFile(path, `${token}\n`);
  });
  if (!isNew) {
    report('info', `the machine owner uses the token in ${path}`);
    return (await readFile(path, 'utf8')).trim();
  }
  report('info', `wrote the machine owner's token to ${path}, valid for ${lifetimeDays} days`);
  return token;
}
