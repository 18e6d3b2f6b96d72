import type { Engine } from '../commit/engine.ts';
import {
  type Authenticator,
  createAuthenticator,
  createPeople,
  type TokenUses,
} from '../features/auth/authenticate.ts';
import { createExternalIssuer } from '../features/auth/issuers.ts';
import { createLocalPeople, type LocalPeople } from '../features/auth/local-people.ts';
import { createIdentityProvider, type IdentityProvider } from '../features/auth/provider/provider.ts';
import type { Installation } from '../model/declare/installation.ts';
import { InvalidInput } from '../model/errors.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { ServeOptions } from './serve-options.ts';

/** What answers say about how people sign in. */
export function installationOf({
  idp,
  localAuthDisabled,
}: Pick<ServeOptions, 'idp' | 'localAuthDisabled'>): Installation {
  return { embeddedIdp: idp === 'embedded', localAuthDisabled };
}

/** How people come to this server; `url` is where it listens. */
export async function localPeopleOf(
  { mail, authorities, publicUrl }: Pick<ServeOptions, 'mail' | 'authorities' | 'publicUrl'>,
  url: () => string,
): Promise<LocalPeople> {
  // Few servers send mails.
  const mailer = mail && (await import('../features/auth/mail.ts')).createMailer({ ...mail, authorities });
  return createLocalPeople({ mailer, publicUrl: () => publicUrl ?? url() });
}

/** Says on whose behalf requests run. */
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
  const people = createPeople({
    engine,
    issuers: [...readIssuers(options, outbound), ...own],
    singleAccount,
    now: Date.now,
  });
  return createAuthenticator({ database, snapshots, now: Date.now, uses, people, operatorToken });
}

/** The identity providers outside whose tokens are accepted. */
function readIssuers(
  { oidcIssuer: issuer, oidcAudience: audience, oidcClaims: claims, oidcTrustEmail }: ServeOptions,
  outbound: Outbound,
) {
  if (issuer === undefined) return [];
  if (audience.length === 0)
    throw new InvalidInput(
      'HEDDLE_OIDC_ISSUER is set without HEDDLE_OIDC_AUDIENCE; say what its tokens name as audience.',
    );
  return [createExternalIssuer({ issuer, outbound, audience, claims, trustsEmail: oidcTrustEmail })];
}

/** The identity provider of the server itself, unless it leaves that to others. */
export function openIdentityProvider(
  engine: Engine,
  { idp, idpRedirectUris: redirectUris, idpKeyRotation: keyDays }: ServeOptions,
  report: (error: unknown, place: string) => void,
  { publicUrl, guesses, passwordChanged }: LocalPeople,
): IdentityProvider | undefined {
  if (idp === 'off') return undefined;
  const place = { publicUrl, redirectUris };
  const provider = createIdentityProvider({ engine, guesses, ...place, keyDays, now: Date.now, report });
  passwordChanged.add(({ user }) => provider.endSessions(user));
  return provider;
}

/** The address under which this machine reaches a server that listens on all of its addresses. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
