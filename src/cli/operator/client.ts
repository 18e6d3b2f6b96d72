import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { codeOf } from '../../lib/error-code.ts';
import { Unauthenticated } from '../../model/errors.ts';
import { type Client, connect } from '../client.ts';
import { readOperatorToken } from '../server/given-tokens.ts';

/** Settings that say which server to talk to as its operator. */
export const operatorSettings = ['server', 'operatorToken', 'operatorTokenFile', 'dataDir', 'configDir'] as const;

/** Creates the client of a command of the operator: by the token that was given, or that of a server on this machine. */
export async function connectAsOperator(config: Pick<Config, (typeof operatorSettings)[number]>): Promise<Client> {
  const token = (await readOperatorToken(config)) ?? (await readTokenFile(config.dataDir));
  return connect({ ...config, token });
}

async function readTokenFile(dataDir: string): Promise<string> {
  const path = join(dataDir, 'operator-token');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const reason = codeOf(cause) === 'EACCES' ? `${path} may not be read` : `there is no ${path}`;
    throw new Unauthenticated(
      `This is for the operator of the server, and ${reason}. Give HEDDLE_OPERATOR_TOKEN, or --data-dir when the server keeps its data elsewhere.`,
      { cause },
    );
  }
}
