import type { Engine } from '../commit/engine.ts';
import {
  type Authenticator,
  createAuthenticator,
  createPersonAuthenticator,
  type TokenUses,
} from '../features/auth/authenticate.ts';
import { createExternalIssuer } from '../features/auth/issuers.ts';
import { createLocalSignIn, type LocalSignIn } from '../features/auth/local-people.ts';
import { createIdentityProvider, type IdentityProvider } from '../features/auth/provider/provider.ts';
import { createTokenCache } from '../features/auth/token-cache.ts';
import type { Installation } from '../model/declare/installation.ts';
import { InvalidInput } from '../model/errors.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { ServeOptions } from './serve-options.ts';

/** Returns the sign-in settings that API answers report. */
export function installationOf({
  idp,
  localAuthDisabled,
}: Pick<ServeOptions, 'idp' | 'localAuthDisabled'>): Installation {
  return { embeddedIdp: idp === 'embedded', localAuthDisabled };
}

/**
 * Creates what signing in local users needs: the mailer, if there is a mail server, and the public URL. `url` returns
 * the address that the server listens on; it is used when no public URL is configured.
 */
export async function localPeopleOf(
  { mail, authorities, publicUrl }: Pick<ServeOptions, 'mail' | 'authorities' | 'publicUrl'>,
  url: () => string,
): Promise<LocalSignIn> {
  // Imported on demand: few servers send mail.
  const mailer = mail && (await import('../features/auth/mail.ts')).createMailer({ ...mail, authorities });
  return createLocalSignIn({ mailer, publicUrl: () => publicUrl ?? url() });
}

/** Creates the authenticator, which determines the caller of each request. */
export function authenticatorOf(
  engine: Engine,
  { uses, outbound }: { readonly uses: TokenUses; readonly outbound: Outbound },
  options: ServeOptions,
  embedded: IdentityProvider | undefined,
): Authenticator {
  const { database, snapshots } = engine;
  const { operatorToken } = options;
  const singleAccount = options.singleAccount ?? options.edition !== 'hosted';
  const own = embedded === undefined || options.localAuthDisabled ? [] : [embedded.asIssuer()];
  const people = createPersonAuthenticator({
    engine,
    issuers: [...readIssuers(options, outbound), ...own],
    singleAccount,
    now: Date.now,
  });
  return createAuthenticator({
    database,
    snapshots,
    now: Date.now,
    tokenUses: uses,
    tokenCache: createTokenCache({ notices: engine.notices, now: () => performance.now() }),
    personAuthenticator: people,
    operatorToken,
  });
}

/**
 * Returns the external identity providers whose tokens are accepted. Throws `InvalidInput` when an issuer is configured
 * without an audience.
 */
function readIssuers(
  { oidcIssuer: issuer, oidcAudience: audience, oidcClaims: claims, oidcTrustEmail }: ServeOptions,
  outbound: Outbound,
) {
  if (issuer === undefined) return [];
  if (audience.length === 0)
    throw new InvalidInput(
      'HEDDLE_OIDC_ISSUER is set without HEDDLE_OIDC_AUDIENCE; set it to the audience in the tokens of the issuer.',
    );
  return [createExternalIssuer({ issuer, outbound, audience, claims, trustsEmail: oidcTrustEmail })];
}

/** Creates the server's own identity provider. Returns `undefined` when the setting `idp` is `off`. */
export function openIdentityProvider(
  engine: Engine,
  { idp, idpRedirectUris: redirectUris, idpKeyRotation: keyDays }: ServeOptions,
  report: (error: unknown, operation: string) => void,
  { publicUrl, signInLimits, passwordChangeListeners }: LocalSignIn,
): IdentityProvider | undefined {
  if (idp === 'off') return undefined;
  const urls = { publicUrl, redirectUris };
  const provider = createIdentityProvider({ engine, signInLimits, ...urls, keyDays, now: Date.now, report });
  passwordChangeListeners.add(({ user }) => provider.endSessions(user));
  return provider;
}

/**
 * Returns the URL with the loopback address instead of `0.0.0.0` or `[::]`, so that this machine can reach a server
 * that listens on all of its addresses.
 */
export function toReachableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
