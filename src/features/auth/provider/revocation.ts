import { type JWTPayload, jwtVerify } from 'jose';
import { deleteGrant } from '../../../db/accounts/idp-records.ts';
import type { ProviderContext } from './host.ts';
import { type ProviderKeys, signingAlgorithm } from './keys.ts';
import { hashId } from './records.ts';
import { audienceOf, issuerOf } from './token-words.ts';

/** Path to which programs send tokens to revoke, below the issuer. */
export const revocationPath = '/token/revocation';

/** Answer to a program: 200 when the token is no longer valid, otherwise the reason why it could not be revoked. */
export type Revocation =
  | { readonly status: 200 }
  | { readonly status: 400 | 401; readonly error: string; readonly error_description: string };

/** Client and grant of a token. */
interface TokenGrant {
  readonly client: string;
  /** Hash of the id of the grant. Absent: the token cannot be revoked. */
  readonly grant?: string;
}

/** Request of a program to revoke a token. */
export interface RevocationRequest {
  readonly form: URLSearchParams;
  /** `Authorization` header, in which some programs send their client id although they have no secret. */
  readonly authorization: string | undefined;
}

/**
 * Revokes a refresh token or an access token, together with its whole grant (RFC 7009). An unknown token is not an
 * error.
 */
export async function revokeToken(
  host: ProviderContext,
  keys: ProviderKeys,
  { form, authorization }: RevocationRequest,
): Promise<Revocation> {
  const { provider } = await host.openProvider();
  const [token, ...more] = form.getAll('token');
  const [client, ...others] = clientIdsIn(form, authorization);
  if (token === undefined || token === '' || more.length > 0) return refuse('invalid_request', 'send one `token`');
  if (client === undefined || client === '' || others.length > 0)
    return refuse('invalid_request', 'send one `client_id`');
  if ((await provider.Client.find(client).catch(() => undefined)) === undefined)
    return { ...refuse('invalid_client', 'this program is not known'), status: 401 };
  const holder = (await grantOfAccessToken(host, keys, token)) ?? (await grantOfRefreshToken(host, token));
  if (holder === undefined) return { status: 200 };
  if (holder.client !== client) return refuse('unauthorized_client', 'the token was issued to another program');
  if (holder.grant === undefined)
    return refuse(
      'unsupported_token_type',
      'a server of an older release issued this token; it expires within 10 minutes',
    );
  await deleteGrant(host.engine.database, holder.grant);
  return { status: 200 };
}

/**
 * Returns the client ids in a request: in its form, and as the user name in its `Authorization` header (RFC 6749,
 * 2.3.1).
 */
function clientIdsIn(form: URLSearchParams, authorization: string | undefined): readonly string[] {
  const [, encoded] = /^basic ([\w+/]+=*)$/i.exec(authorization ?? '') ?? [];
  const [, name] = /^([\w.-]+):/.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  return name === undefined ? form.getAll('client_id') : [...new Set([...form.getAll('client_id'), name])];
}

async function grantOfAccessToken(
  host: ProviderContext,
  keys: ProviderKeys,
  token: string,
): Promise<TokenGrant | undefined> {
  const [issuer, audience] = [issuerOf(host.publicUrl()), audienceOf(host.publicUrl())];
  const options = { issuer, audience, algorithms: [signingAlgorithm], currentDate: new Date(host.now()) };
  // A token that is not a valid access token of ours need not be revoked here.
  const payload = await jwtVerify(token, keys.find, options).then(
    (checked): JWTPayload | undefined => checked.payload,
    () => undefined,
  );
  if (payload === undefined) return undefined;
  const { client_id, grant } = payload;
  return { client: String(client_id), ...(typeof grant === 'string' ? { grant } : {}) };
}

async function grantOfRefreshToken(host: ProviderContext, token: string): Promise<TokenGrant | undefined> {
  const { provider } = await host.openProvider();
  const found = await provider.RefreshToken.find(token);
  if (found === undefined) return undefined;
  const { clientId = '', grantId } = found;
  return { client: clientId, ...(grantId === undefined ? {} : { grant: hashId(grantId) }) };
}

function refuse(error: string, error_description: string): Exclude<Revocation, { readonly status: 200 }> {
  return { status: 400, error, error_description };
}
