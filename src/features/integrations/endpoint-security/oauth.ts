import { isObject } from '../../../lib/json.ts';
import { type AskVendor, CredentialsRefused, type VendorRequest } from './http.ts';
import { VendorFailure } from './vendor.ts';

/** Where and as whom a token is requested: OAuth 2.0 client credentials. */
export interface ClientCredentials {
  readonly url: URL;
  readonly form: Readonly<Record<string, string>>;
}

/** A token is renewed so long before it ends. */
const marginMs = 60_000;
/** When the answer does not say how long it lasts. */
const usualSeconds = 600;
/** Tokens are short. */
const mostBytes = 64 * 1024;

/**
 * Asks with a token, which is requested when it is needed and again before it ends. One that is refused, because it was
 * revoked, is replaced once.
 */
export function withToken(ask: AskVendor, credentials: ClientCredentials, now: () => number): AskVendor {
  let token: { readonly text: string; readonly until: number } | undefined;
  const authorized = async (request: VendorRequest): Promise<VendorRequest> => {
    if (token === undefined || token.until <= now()) token = await requestToken(ask, credentials, now);
    return { ...request, headers: { ...request.headers, authorization: `Bearer ${token.text}` } };
  };
  return async (request) => {
    const first = await authorized(request);
    try {
      return await ask(first);
    } catch (error) {
      if (!(error instanceof CredentialsRefused)) throw error;
      // Of requests that are refused together, the first one has it replaced.
      if (first.headers?.['authorization'] === `Bearer ${token?.text}`) token = undefined;
      return ask(await authorized(request));
    }
  };
}

async function requestToken(ask: AskVendor, { url, form }: ClientCredentials, now: () => number) {
  const { status, body } = await ask({
    ...{
      url,
      method: 'POST',
      body: new URLSearchParams(form).toString(),
      accepts: [400, 401, 403],
      maxBytes: mostBytes,
    },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const members = isObject(body) ? body : {};
  const { access_token: text, expires_in: seconds } = members;
  if (status >= 400) {
    const message = refusalText(url.host, status, members['error']);
    // Other refusals are of the address, or of the permission.
    const isCredential = status === 401 || members['error'] === 'invalid_client';
    throw isCredential ? new CredentialsRefused(message) : new VendorFailure(message);
  }
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    throw new VendorFailure(`${url.host} answers a request for a token without one`);
  const lasts = typeof seconds === 'number' && seconds > 0 ? seconds : usualSeconds;
  return { text, until: now() + Math.max(lasts * 1000 - marginMs, (lasts * 1000) / 2) };
}

/** The code of the refusal is one of few words; anything longer could hold what was sent. */
function refusalText(host: string, status: number, error: unknown): string {
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : '';
  return `${host} grants no token: it answers ${status}${code}; see whether the client and its secret are right and still good`;
}
