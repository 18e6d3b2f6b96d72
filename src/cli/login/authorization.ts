import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { Unauthenticated } from '../../model/errors.ts';
import { readTokenFile } from '../server/given-tokens.ts';
import { renew } from './oauth.ts';
import { type Login, type LoginStore, openLogins } from './store.ts';

/** Returns the value of the `Authorization` header for a request that is sent now; renews the login if necessary. */
export type Authorization = () => Promise<string>;

/** An access token is renewed this many milliseconds before it expires, because a request takes time. */
const marginMs = 30_000;

/**
 * Returns the credentials of a command: the configured token, else the stored login at the server, else the token file
 * of a server on this machine. Throws `Unauthenticated` when there are none.
 */
export async function authorizationOf(
  config: Pick<Config, 'server' | 'token' | 'dataDir' | 'configDir'>,
): Promise<Authorization> {
  const logins = openLogins(config.configDir);
  if (config.token === undefined && (await logins.read(config.server)) !== undefined)
    return async () => `Bearer ${(await currentLogin(logins, config.server)).accessToken}`;
  const token = config.token ?? (await localToken(config));
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new Unauthenticated(
      'The token contains characters that are not allowed in tokens; copy it again, without spaces or line ends.',
    );
  }
  return async () => `${isJwt(token) ? 'Bearer' : 'Token'} ${token}`;
}

/** Checks whether a token is a JWT of an identity provider. */
function isJwt(token: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

async function currentLogin(logins: LoginStore, server: string): Promise<Login> {
  const known = await logins.read(server);
  if (known !== undefined && isFresh(known)) return known;
  const login = await logins.change(server, async (present) => {
    if (present === undefined || isFresh(present)) return present;
    const renewed = await renew(present);
    // The login cannot be renewed: it ended by logout, a new password, an administrator, or expiry.
    return renewed.ok ? renewed.login : undefined;
  });
  if (login !== undefined) return login;
  throw new Unauthenticated(`Your sign-in at ${server} has ended; run \`heddle login --server ${server}\`.`);
}

function isFresh({ expiresAt }: Login): boolean {
  return expiresAt - marginMs > Date.now();
}

function localToken({ dataDir, server }: Pick<Config, 'dataDir' | 'server'>): Promise<string> {
  return readTokenFile(
    join(dataDir, 'token'),
    (reason) =>
      `No token: ${reason}, and you are not signed in. Run \`heddle login --server ${server}\`, or give --token or HEDDLE_TOKEN, or --data-dir when the server keeps its data elsewhere.`,
  );
}
