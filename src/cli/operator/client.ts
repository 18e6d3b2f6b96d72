import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { type Client, connect } from '../client.ts';
import { readOperatorToken, readTokenFile } from '../server/given-tokens.ts';

/** Settings that determine the server, and the operator's credentials. */
export const operatorSettings = ['server', 'operatorToken', 'operatorTokenFile', 'dataDir', 'configDir'] as const;

/** Creates the client of an operator command. Uses the configured token, else the token of a server on this machine. */
export async function connectAsOperator(config: Pick<Config, (typeof operatorSettings)[number]>): Promise<Client> {
  const token = (await readOperatorToken(config)) ?? (await localToken(config.dataDir));
  return connect({ ...config, token });
}

function localToken(dataDir: string): Promise<string> {
  return readTokenFile(
    join(dataDir, 'operator-token'),
    (reason) =>
      `This command is for the operator of the server, and ${reason}. Give HEDDLE_OPERATOR_TOKEN, or --data-dir when the server keeps its data elsewhere.`,
  );
}
