import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { jwtVerify } from 'jose';
import type Provider from 'oidc-provider';
import type { Engine } from '../../../commit/engine.ts';
import { deleteEndedRecords, deleteRecordsOfUser, hasGrant, reserveName } from '../../../db/accounts/idp-records.ts';
import { createBuckets } from '../../../lib/buckets.ts';
import { Unauthenticated } from '../../../model/errors.ts';
import { type Issuer, standardClaims } from '../issuers.ts';
import type { SignInLimits } from '../sign-in-limits.ts';
import { answerAccountPage } from './account.ts';
import type { ProviderContext } from './host.ts';
import { createProviderKeys, type KeyRing, type ProviderKeys, signingAlgorithm } from './keys.ts';
import { findPerson } from './people.ts';
import { createAdapter, hashId } from './records.ts';
import { type Revocation, type RevocationRequest, revokeToken } from './revocation.ts';
import { createSignInPages } from './sign-in.ts';
import { audienceOf, claimsOf, issuerOf } from './token-words.ts';
import type { WebAnswer, WebRequest } from './web.ts';

/** This server as an OpenID Connect identity provider. */
export interface IdentityProvider {
  /**
   * Handles requests of programs, and of browsers that programs redirect. `req.url` is relative to the path of the
   * provider.
   */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Answers a request for a page of the sign-in with the id `uid`. */
  answerSignIn(uid: string, request: WebRequest): Promise<WebAnswer>;
  /** Answers a request for a person's own page. */
  answerAccountPage(request: WebRequest): Promise<WebAnswer>;
  /** Returns the claims about the person to whom an access token belongs. Throws `Unauthenticated`. */
  readTokenClaims(token: string): Promise<ReturnType<typeof claimsOf>>;
  /** Revokes the grant of a token, as requested by the form of a program. */
  revoke(request: RevocationRequest): Promise<Revocation>;
  /** Returns the provider as an issuer, by which the API verifies its tokens. */
  asIssuer(): Issuer;
  /** Ends the sessions and refresh tokens of a person. */
  endSessions(user: string): Promise<void>;
  publicUrl(): string;
  /** Origins of the dashboard's redirect URIs. */
  readonly origins: readonly string[];
  /** Starts to delete ended records and to renew keys at intervals. Returns a function that stops it. */
  run(): () => Promise<void>;
}

export interface IdentityProviderOptions {
  readonly engine: Engine;
  readonly signInLimits: SignInLimits;
  /** Returns the public address of the server, without a slash at the end. */
  publicUrl(): string;
  readonly redirectUris: readonly string[];
  /** Age at which the signing key is replaced, in days. */
  readonly keyDays: number;
  /** Milliseconds since 1970. */
  now(): number;
  /** Called with internal errors, and with errors of the housekeeping. */
  report(error: unknown, operation: string): void;
}

const daySeconds = 86_400;
const housekeepingMs = 600_000;

/** Minimum time between two polls of a device, in seconds. RFC 8628 sets 5 seconds, but clocks are not exact. */
const pollSeconds = 4;

/** Rate limit of the device sign-ins that an address begins, as for other endpoints without credentials. */
const deviceRateLimit = { perMinute: 10, burst: 5 };

/** Creates the identity provider of a server. */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { engine, publicUrl } = options;
  const keys = createProviderKeys({
    ...{ database: engine.database, vault: engine.planEnvironment.vault },
    rotateAfter: options.keyDays * daySeconds,
  });
  const host = createProviderContext(options, keys);
  const pages = createSignInPages(host);
  return {
    async handle(req, res) {
      const { provider } = await host.openProvider();
      await provider.callback()(req, res);
    },
    answerSignIn: (uid, request) => pages.answer(uid, request),
    answerAccountPage: (request) => answerAccountPage(host, request),
    readTokenClaims: (token) => readTokenClaims(host, keys, token),
    revoke: (request) => revokeToken(host, keys, request),
    asIssuer: () => embeddedIssuer(publicUrl, keys),
    endSessions: (user) => host.endSessions(user),
    publicUrl,
    origins: [...new Set(options.redirectUris.map((uri) => new URL(uri).origin))],
    run: () => runHousekeeping(options, keys),
  };
}

function createProviderContext(options: IdentityProviderOptions, keys: ProviderKeys): ProviderContext {
  const { engine, signInLimits, now, publicUrl, redirectUris } = options;
  const records = { database: engine.database, vault: engine.planEnvironment.vault };
  const adapter = createAdapter(records);
  const find: ProviderContext['findPerson'] = async (id) => {
    // While passwords are switched off, people who have signed in before are refused like new ones.
    if (engine.registry.installation.localAuthDisabled) return undefined;
    const person = await findPerson(engine, id);
    return person?.refusedBecause === undefined ? person : undefined;
  };
  const deviceTurns = createBuckets(deviceRateLimit);
  const takeDeviceTurn = (address: string) => deviceTurns.take(address, performance.now());
  const mayPoll = (code: string) => reserveName(engine.database, 'DevicePoll', hashId(code), pollSeconds);
  let made: { readonly provider: Provider; readonly ring: KeyRing } | undefined;
  return {
    ...{ engine, signInLimits, records, now, findPerson: find, publicUrl },
    async openProvider() {
      // Loaded at the first sign-in, because it is half as much code as the rest of a server.
      const [ring, { makeProvider }] = await Promise.all([keys.current(), import('./configuration.ts')]);
      if (made?.ring.epoch !== ring.epoch) {
        const provider = makeProvider({
          publicUrl: publicUrl(),
          redirectUris,
          ring,
          adapter,
          findPerson: find,
          mayPoll,
          takeDeviceTurn,
        });
        provider.on('server_error', (ctx, error) => options.report(error, `${ctx.method} /oidc${ctx.path}`));
        made = { provider, ring };
      }
      return made;
    },
    endSessions: (user, keepUid) =>
      deleteRecordsOfUser(engine.database, user, keepUid === undefined ? undefined : hashId(keepUid)),
  };
}

function embeddedIssuer(publicUrl: () => string, keys: ProviderKeys): Issuer {
  return {
    ...{ kind: 'embedded', algorithms: [signingAlgorithm], claims: standardClaims, trustsEmail: true },
    ...{ keys: keys.find, epoch: keys.epoch },
    get issuer() {
      return issuerOf(publicUrl());
    },
    get audience() {
      return [audienceOf(publicUrl())];
    },
  };
}

async function readTokenClaims(
  host: ProviderContext,
  keys: ProviderKeys,
  token: string,
): Promise<ReturnType<typeof claimsOf>> {
  const [issuer, audience] = [issuerOf(host.publicUrl()), audienceOf(host.publicUrl())];
  const checked = await jwtVerify(token, keys.find, {
    ...{ issuer, audience, algorithms: [signingAlgorithm], currentDate: new Date(host.now()) },
  }).catch((cause: unknown) => {
    throw new Unauthenticated('token invalid', { cause });
  });
  const { sub = '', grant } = checked.payload;
  if (typeof grant === 'string' && !(await hasGrant(host.engine.database, grant)))
    throw new Unauthenticated('token invalid');
  const person = await host.findPerson(sub);
  if (person === undefined) throw new Unauthenticated('token invalid');
  return claimsOf(person);
}

function runHousekeeping({ engine, report }: IdentityProviderOptions, keys: ProviderKeys): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      // The random part keeps servers from working at the same time for long. Stopping ends the wait.
      await wait(housekeepingMs * (0.9 + Math.random() * 0.2), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      await Promise.all([keys.renew(), deleteEndedRecords(engine.database)]).catch((error: unknown) =>
        report(error, 'the housekeeping of the identity provider'),
      );
    }
  };
  const ended = loop();
  return async () => {
    stopping.abort();
    await ended;
  };
}
