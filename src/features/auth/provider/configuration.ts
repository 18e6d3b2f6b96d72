import Provider, {
  type Adapter,
  type Client,
  type Configuration,
  errors,
  type Interaction,
  interactionPolicy,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { clientIds, clientsOf } from './clients.ts';
import { makeConformant } from './conformance.ts';
import { type KeyRing, signingAlgorithm } from './keys.ts';
import { devicePages, secretOf } from './pages/device.ts';
import { errorPage, signedOutPage, signOutPage } from './pages/plain.ts';
import type { Person } from './people.ts';
import { hashId } from './records.ts';
import { revocationPath } from './revocation.ts';
import { apiScopes, audienceOf, claimsOf, issuerOf } from './token-words.ts';

/** Parts of which a provider is made. */
export interface ProviderOptions {
  /** Public address of the server, without a slash at the end. */
  readonly publicUrl: string;
  /** Redirect URIs of the dashboard. Empty: there is no client for a dashboard. */
  readonly redirectUris: readonly string[];
  readonly ring: KeyRing;
  readonly adapter: (model: string) => Adapter;
  /** Whether a device may poll now: its last poll must be some seconds ago. */
  mayPoll(code: string): Promise<boolean>;
  /**
   * Counts a device sign-in that an address begins. Returns 0, or the seconds after which the address may begin one.
   */
  takeDeviceTurn(address: string): number;
  /** Returns the person with an id; `undefined` unless they may sign in now. */
  findPerson(id: string): Promise<Person | undefined>;
}

const minuteSeconds = 60;
const daySeconds = 86_400;

/** Lifetimes in seconds. Access tokens live for a few minutes only, because they are verified without a query. */
const lifetimes = {
  accessToken: 10 * minuteSeconds,
  code: minuteSeconds,
  deviceCode: 10 * minuteSeconds,
  idToken: 60 * minuteSeconds,
  interaction: 30 * minuteSeconds,
  session: daySeconds,
  /**
   * A refresh token expires when it is not used. A grant expires in any case, together with everything that depends on
   * it.
   */
  refreshToken: 14 * daySeconds,
  grant: 30 * daySeconds,
} as const;

/** Creates a provider. The provider stores nothing itself, so that it can be replaced at any time. */
export function makeProvider(parts: ProviderOptions): Provider {
  const provider = new Provider(issuerOf(parts.publicUrl), configurationOf(parts));
  // The code that mounts the provider sets the forwarding headers itself, so no client can set them.
  provider.proxy = true;
  makeConformant(provider, parts);
  return provider;
}

function configurationOf({ publicUrl, redirectUris, ring, adapter, findPerson }: ProviderOptions): Configuration {
  return {
    adapter,
    clients: clientsOf(publicUrl, redirectUris),
    jwks: { keys: ring.signing.map((key) => ({ ...key, kty: 'EC', crv: 'P-256', x: key.x ?? '', y: key.y ?? '' })) },
    cookies: {
      names: { session: 'heddle_session', interaction: 'heddle_signin', resume: 'heddle_resume' },
      keys: [ring.cookieSecret],
      long: { signed: true, httpOnly: true, sameSite: 'lax' },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
    },
    features: featuresOf(publicUrl),
    routes: { userinfo: '/me', device_authorization: '/device/auth', code_verification: '/device' },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    scopes: ['openid', 'offline_access'],
    // ID tokens contain the claims of the requested scopes, because the userinfo route of the provider, which would
    // return them, is disabled.
    conformIdTokenClaims: false,
    responseTypes: ['code', 'none'],
    clientAuthMethods: ['none'],
    discovery: {
      userinfo_endpoint: `${issuerOf(publicUrl)}/me`,
      revocation_endpoint: `${issuerOf(publicUrl)}${revocationPath}`,
      revocation_endpoint_auth_methods_supported: ['none'],
    },
    enabledJWA: { idTokenSigningAlgValues: [signingAlgorithm] },
    ttl: {
      AccessToken: lifetimes.accessToken,
      AuthorizationCode: lifetimes.code,
      DeviceCode: lifetimes.deviceCode,
      IdToken: lifetimes.idToken,
      Interaction: lifetimes.interaction,
      Session: lifetimes.session,
      Grant: lifetimes.grant,
      RefreshToken: lifetimes.refreshToken,
    },
    pkce: { required: (_ctx, client) => client.clientId !== clientIds.account },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // A command line stays signed in when the browser signs out.
    expiresWithSession: async (ctx) => ctx.oidc.client?.clientId !== clientIds.cli,
    clientBasedCORS: (_ctx, origin, client) =>
      client.clientId === clientIds.dashboard && redirectUris.some((uri) => new URL(uri).origin === origin),
    loadExistingGrant,
    interactions: { policy: policyOf(), url: (_ctx, { uid }: Interaction) => `/signin/${uid}` },
    findAccount: async (_ctx, id) => {
      const person = await findPerson(id);
      return person && { accountId: id, claims: async () => claimsOf(person) };
    },
    extraTokenClaims: async ({ oidc }, token) => {
      const person = oidc.account === undefined ? undefined : await findPerson(oidc.account.accountId);
      if (person === undefined) return undefined;
      const { sub: _, ...claims } = claimsOf(person);
      // The time of the sign-in, however often the token was renewed since.
      const { RefreshToken, AuthorizationCode, DeviceCode } = oidc.entities;
      const grant = 'grantId' in token && token.grantId !== undefined ? { grant: hashId(token.grantId) } : {};
      const { account } = person;
      return { ...claims, account, ...grant, auth_time: (RefreshToken ?? AuthorizationCode ?? DeviceCode)?.authTime };
    },
    renderError: (ctx, out) => {
      ctx.type = 'html';
      ctx.body = errorPage(out.error, out.error_description);
    },
  };
}

function featuresOf(publicUrl: string): NonNullable<Configuration['features']> {
  const audience = audienceOf(publicUrl);
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    // Access tokens are issued for the API, so a route of the server answers at `/me` instead.
    userinfo: { enabled: false },
    // The provider's own route does not accept signed access tokens. The route of the server does.
    revocation: { enabled: false },
    deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', ...devicePages },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx) => {
        ctx.body = signOutPage(secretOf(ctx), ctx.oidc.urlFor('end_session_confirm'));
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.body = signedOutPage();
      },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        if (resource !== audience) throw new errors.InvalidTarget(`this server issues tokens for ${audience} only`);
        return {
          ...{ scope: apiScopes, audience, accessTokenTTL: lifetimes.accessToken, accessTokenFormat: 'jwt' },
          jwt: { sign: { alg: signingAlgorithm } },
        };
      },
    },
  };
}

/**
 * Returns the interaction policy: a person of a session who is deleted or blocked must sign in again, and sees the
 * reason there.
 */
function policyOf() {
  const policy = interactionPolicy.base();
  const gone = new interactionPolicy.Check(
    'person_gone',
    'the user of the session may no longer sign in',
    'login_required',
    ({ oidc }) => oidc.session?.accountId !== undefined && oidc.account === undefined,
  );
  policy.get('login')?.checks.add(gone);
  return policy;
}

/** Returns the grant for a client. Our own pages and the dashboard that the operator configured need no consent. */
async function loadExistingGrant(ctx: KoaContextWithOIDC) {
  const { oidc } = ctx;
  const { client, session, account, provider } = oidc;
  if (client === undefined || session === undefined || account === undefined) return undefined;
  const grantId = oidc.result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (known?.accountId === account.accountId) return known;
  return isOurs(client) ? await grantAll(ctx, client, account.accountId) : undefined;
}

function isOurs({ clientId }: Client): boolean {
  return clientId === clientIds.account || clientId === clientIds.dashboard;
}

async function grantAll({ oidc }: KoaContextWithOIDC, { clientId }: Client, accountId: string) {
  const grant = new oidc.provider.Grant({ clientId, accountId });
  grant.addOIDCScope([...oidc.requestParamScopes].join(' '));
  for (const resource of Object.keys(oidc.resourceServers ?? {})) grant.addResourceScope(resource, apiScopes);
  await grant.save();
  return grant;
}
