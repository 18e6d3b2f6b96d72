import { makeToken } from '../../src/lib/token.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

/** Owner's token of every measured server. */
export const token = makeToken('nbp_', new Uint8Array(32).fill(9));

/** Operator's token of every measured server. */
export const operatorToken = makeToken('nbo_', new Uint8Array(32).fill(9));

/** Starts a server on Postgres, or on the embedded database of the data directory when `url` is absent. */
export function serve(options: {
  readonly url?: string;
  readonly dataDir: string;
  readonly source?: string;
  /** Path of a settings file. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<ServedHeddle> {
  const { url, dataDir, source, config, env } = options;
  const flags = [
    ...(url === undefined ? [] : ['--database-url', url]),
    ...(source === undefined ? [] : ['--source', source]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
  return serveHeddle(['--data-dir', dataDir, ...flags], {
    env: {
      ...env,
      HEDDLE_BOOTSTRAP_TOKEN: token,
      HEDDLE_OPERATOR_TOKEN: operatorToken,
      HEDDLE_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
    },
  });
}

/** Sends one request and returns the body of the answer. Throws unless the request succeeds. */
export async function request(
  server: { readonly url: string },
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Token ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return text === '' ? undefined : JSON.parse(text);
}
