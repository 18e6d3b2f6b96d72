import { readFile } from 'node:fs/promises';
import type { Config } from '../../config.ts';
import { codeOf } from '../../lib/error-code.ts';
import { isWellFormedToken } from '../../lib/token.ts';
import { Unauthenticated, Unavailable } from '../../model/errors.ts';
import { operatorTokenPrefix, tokenPrefix } from './token.ts';

/** The token for the first start, if one was given. It is checked before anything starts; it is never shown. */
export function readBootstrapToken({
  bootstrapToken: token,
  bootstrapTokenFile: file,
}: Pick<Config, 'bootstrapToken' | 'bootstrapTokenFile'>): Promise<string | undefined> {
  const how = { variable: 'HEDDLE_BOOTSTRAP_TOKEN', prefix: tokenPrefix, make: 'heddle token new' };
  return readGiven({ token, file }, how);
}

/** The token of the operator, if one was given. */
export function readOperatorToken({
  operatorToken: token,
  operatorTokenFile: file,
}: Pick<Config, 'operatorToken' | 'operatorTokenFile'>): Promise<string | undefined> {
  const how = { variable: 'HEDDLE_OPERATOR_TOKEN', prefix: operatorTokenPrefix, make: 'heddle token new --operator' };
  return readGiven({ token, file }, how);
}

async function readGiven(
  { token: stated, file }: { readonly token: string | undefined; readonly file: string | undefined },
  { variable, prefix, make }: { readonly variable: string; readonly prefix: string; readonly make: string },
): Promise<string | undefined> {
  if (stated !== undefined && file !== undefined)
    throw new Unauthenticated(`${variable} and ${variable}_FILE are both set; keep one of them.`);
  const token = file === undefined ? stated : await readSecretFile(`${variable}_FILE`, file);
  if (token === undefined || isWellFormedToken(prefix, token)) return token;
  const origin = file === undefined ? variable : `${variable}_FILE`;
  throw new Unauthenticated(`${origin} holds no well-formed token; make one with \`${make}\`.`);
}

/** A token that a server left in its data directory. `refusal` says what to do without it; it is given the reason. */
export async function readTokenFile(path: string, refusal: (reason: string) => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const reason = codeOf(cause) === 'EACCES' ? `${path} may not be read` : `there is no ${path}`;
    throw new Unauthenticated(refusal(reason), { cause });
  }
}

/** The text of a file that a setting names, without the space around it. */
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
