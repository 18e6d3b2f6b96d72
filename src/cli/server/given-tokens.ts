import { readFile } from 'node:fs/promises';
import type { Config } from '../../config.ts';
import { codeOf } from '../../lib/error-code.ts';
import { isWellFormedToken } from '../../lib/token.ts';
import { Unauthenticated, Unavailable } from '../../model/errors.ts';
import { operatorTokenPrefix, tokenPrefix } from './token.ts';

/**
 * Returns the configured token for the machine owner, which the first start creates; `undefined` when none is
 * configured. Checked before anything starts, and never printed.
 */
export function readBootstrapToken({
  bootstrapToken: token,
  bootstrapTokenFile: file,
}: Pick<Config, 'bootstrapToken' | 'bootstrapTokenFile'>): Promise<string | undefined> {
  const how = { variable: 'HEDDLE_BOOTSTRAP_TOKEN', prefix: tokenPrefix, make: 'heddle token new' };
  return readConfiguredToken({ token, file }, how);
}

/** Returns the configured token of the operator; `undefined` when none is configured. */
export function readOperatorToken({
  operatorToken: token,
  operatorTokenFile: file,
}: Pick<Config, 'operatorToken' | 'operatorTokenFile'>): Promise<string | undefined> {
  const how = { variable: 'HEDDLE_OPERATOR_TOKEN', prefix: operatorTokenPrefix, make: 'heddle token new --operator' };
  return readConfiguredToken({ token, file }, how);
}

async function readConfiguredToken(
  { token: stated, file }: { readonly token: string | undefined; readonly file: string | undefined },
  { variable, prefix, make }: { readonly variable: string; readonly prefix: string; readonly make: string },
): Promise<string | undefined> {
  if (stated !== undefined && file !== undefined)
    throw new Unauthenticated(`${variable} and ${variable}_FILE are both set; keep one of them.`);
  const token = file === undefined ? stated : await readSecretFile(`${variable}_FILE`, file);
  if (token === undefined || isWellFormedToken(prefix, token)) return token;
  const origin = file === undefined ? variable : `${variable}_FILE`;
  throw new Unauthenticated(`${origin} contains no well-formed token; make one with \`${make}\`.`);
}

/**
 * Returns the token that a server wrote to its data directory. When it cannot be read, throws `Unauthenticated` with
 * the message that `refusal` returns for the reason.
 */
export async function readTokenFile(path: string, refusal: (reason: string) => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const reason = codeOf(cause) === 'EACCES' ? `permission to read ${path} is denied` : `${path} does not exist`;
    throw new Unauthenticated(refusal(reason), { cause });
  }
}

/** Returns the trimmed text of a file that a setting names. Throws `Unavailable` when it cannot be read. */
export async function readSecretFile(variable: string, path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Unavailable(`${variable} cannot be read (${reason}); correct the path or unset it.`, {
      cause,
    });
  }
}
