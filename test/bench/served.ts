import { makeToken } from '../../src/lib/token.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

/** The owner's token of every server that is measured. */
export const token = makeToken('nbp_', new Uint8Array(32).fill(9));

/** The operator's token of every server that is measured. */
export const operatorToken = makeToken('nbo_', new Uint8Array(32).fill(9));

/** Starts a server on a Postgres (or, without a URL, on the embedded database of the data directory). */
export function serve(options: {
  readonly url?: string;
  readonly dataDir: string;
  readonly source?: string;
  /** A file of settings. */
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

/** Sends one request and answers the body; throws unless it is a success. */
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
