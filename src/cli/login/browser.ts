import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Unauthenticated, Unavailable } from '../../model/errors.ts';
import { beginSignIn, getTokens, type OAuthEndpoints } from './oauth.ts';
import type { Login } from './store.ts';

const signInTimeoutMs = 5 * 60_000;

/**
 * Signs the user in with their browser, which the server redirects to a port of this machine. Calls `show` with the URL
 * to open.
 */
export async function signInByBrowser(endpoints: OAuthEndpoints, show: (url: string) => void): Promise<Login> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    // The cast is safe: a server that listens on TCP has such an address.
    const { port } = server.address() as AddressInfo;
    const redirectUri = `http://127.0.0.1:${port}/callback`;
    const { url, verifier, state } = beginSignIn(endpoints, redirectUri);
    const code = new Promise<string>((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Unavailable('No sign-in within 5 minutes; try again.')),
        signInTimeoutMs,
      );
      server.on('request', ({ url: path = '' }, response) => {
        const query = new URL(path, redirectUri).searchParams;
        // Any other request is not the redirect of this sign-in.
        if (!path.startsWith('/callback?') || query.get('state') !== state)
          return answer(response, 404, 'Nothing here.');
        clearTimeout(late);
        try {
          resolve(codeIn(query, endpoints.issuer));
          answer(response, 200, 'You are signed in. Continue in your terminal; you can close this page.');
        } catch (error) {
          answer(response, 200, 'You are not signed in. Your terminal shows the reason; you can close this page.');
          reject(error);
        }
      });
    });
    show(url);
    const fields = { grant_type: 'authorization_code', code: await code, redirect_uri: redirectUri };
    const tokens = await getTokens(endpoints, { ...fields, code_verifier: verifier });
    if (tokens.ok) return tokens.login;
    throw new Unauthenticated(`The server issued no tokens (${tokens.description || tokens.error}); try again.`);
  } finally {
    server.close();
    server.closeIdleConnections();
  }
}

function codeIn(query: URLSearchParams, issuer: string): string {
  // Refuses codes of another issuer, which could otherwise be passed off as codes of this server (mix-up attack).
  if (query.get('iss') !== issuer) throw new Unauthenticated('Another server answered this sign-in; try again.');
  const code = query.get('code');
  if (code !== null) return code;
  const refused = query.get('error') === 'access_denied';
  throw new Unauthenticated(
    refused
      ? 'You denied the sign-in, so you are not signed in.'
      : `The server refused: ${query.get('error_description') ?? query.get('error')}.`,
  );
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    connection: 'close',
  });
  const style =
    'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}';
  response.end(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Heddle</title><style>${style}</style></head><body><h1>Heddle</h1><p>${text}</p></body></html>`,
  );
}

/** Opens a URL in the user's browser. Does nothing when there is none. */
export function openInBrowser(url: string): void {
  const [program, ...words] = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }[
    process.platform as string
  ] ?? ['xdg-open'];
  const child = spawn(program ?? 'xdg-open', [...words, url], { detached: true, stdio: 'ignore' });
  // Without a browser, the user can copy the URL that was printed.
  child.on('error', () => {});
  child.unref();
}
