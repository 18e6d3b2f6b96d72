import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDirectory, createFile } from '../../db/embedded/disk.ts';
import { sha256Base64 } from '../../lib/node-pure.ts';
import { isWellFormedToken, makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { Unauthenticated } from '../../model/errors.ts';

/** Prefix of the operator's tokens. */
export const operatorTokenPrefix = 'nbo_';

/** Name of the file in the data directory that contains the operator's token. */
const operatorTokenFile = 'operator-token';

/** Returns whether a token is the operator's token. No user of any account counts as the operator. */
export function isOperatorToken(known: string | undefined, given: string): boolean {
  if (known === undefined) return false;
  // Compares in a time that does not depend on where the texts differ.
  return timingSafeEqual(Buffer.from(sha256Base64(known)), Buffer.from(sha256Base64(given)));
}

/** Sources of the operator's token. */
export interface OperatorTokenOptions {
  readonly dataDir: string;
  /** Token from the settings. `undefined`: the token of the data directory, which is created when there is none. */
  readonly token: string | undefined;
  report(level: 'info' | 'warn', message: string): void;
}

/** Returns the operator's token; `undefined` when the settings contain none and the data directory cannot store one. */
export async function ensureOperatorToken({
  dataDir,
  token,
  report,
}: OperatorTokenOptions): Promise<string | undefined> {
  if (token !== undefined) return requireWellFormed(token, 'HEDDLE_OPERATOR_TOKEN');
  const path = join(dataDir, operatorTokenFile);
  try {
    const made = await createTokenFile(dataDir, path);
    if (made === undefined) return requireWellFormed((await readFile(path, 'utf8')).trim(), `the file ${path}`);
    report('info', `wrote the operator's token to ${path}`);
    return made;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    report(
      'warn',
      `the operator's token cannot be stored in ${path} (${String(error.code)}); calls of the operator are refused until HEDDLE_OPERATOR_TOKEN provides one`,
    );
    return undefined;
  }
}

/** Creates the file with a new token. Returns `undefined` when the file exists. */
async function createTokenFile(dataDir: string, path: string): Promise<string | undefined> {
  const token = makeToken(operatorTokenPrefix, randomBytes(tokenRandomBytes));
  await createDirectory(dataDir, 0o700).catch(() => undefined);
  return (await createFile(path, `${token}\n`)) ? token : undefined;
}

/** Throws unless the token is well-formed. The message does not repeat the token, because it is a secret. */
function requireWellFormed(token: string, tokenSource: string): string {
  if (isWellFormedToken(operatorTokenPrefix, token)) return token;
  throw new Unauthenticated(
    `${tokenSource} contains no well-formed token of an operator; make one with \`heddle token new --operator\`.`,
  );
}
