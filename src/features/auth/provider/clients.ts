import type { ClientMetadata } from 'oidc-provider';

/**
 * Client ids of the programs that people sign in to. No program can keep a secret, so all that get a code must use
 * PKCE.
 */
export const clientIds = { cli: 'heddle-cli', dashboard: 'heddle-dashboard', account: 'heddle-account' } as const;

/** Path of the page for a person's tokens and password, below the public address. */
export const accountPath = '/signin/account';

const common = {
  token_endpoint_auth_method: 'none',
  id_token_signed_response_alg: 'ES256',
} as const satisfies Partial<ClientMetadata>;

/** Returns all clients of a server with this public address. */
export function clientsOf(publicUrl: string, redirectUris: readonly string[]): ClientMetadata[] {
  const cli: ClientMetadata = {
    ...common,
    client_id: clientIds.cli,
    client_name: 'Heddle on the command line',
    // As for all native programs, every port of the loopback addresses is accepted.
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback'],
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
  };
  const account: ClientMetadata = {
    ...common,
    client_id: clientIds.account,
    client_name: 'your Heddle account',
    redirect_uris: [`${publicUrl}${accountPath}`],
    post_logout_redirect_uris: [`${publicUrl}${accountPath}`],
    grant_types: [],
    // The page uses only the session, and needs no tokens.
    response_types: ['none'],
  };
  if (redirectUris.length === 0) return [cli, account];
  return [cli, account, dashboardOf(redirectUris)];
}

function dashboardOf(redirectUris: readonly string[]): ClientMetadata {
  const origins = new Set(redirectUris.map((uri) => new URL(uri).origin));
  return {
    ...common,
    client_id: clientIds.dashboard,
    client_name: 'the Heddle dashboard',
    redirect_uris: [...redirectUris],
    post_logout_redirect_uris: [...new Set([...redirectUris, ...[...origins].flatMap((one) => [one, `${one}/`])])],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
