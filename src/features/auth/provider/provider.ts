import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { jwtVerify } from 'jose';
import type Provider from 'oidc-provider';
import type { Engine } from '../../../commit/engine.ts';
import { deleteEndedRecords, deleteRecordsOf, hasGrant, takeTurn } from '../../../db/accounts/idp-records.ts';
import { Unauthenticated } from '../../../model/errors.ts';
import { type Issuer, standardClaims } from '../issuers.ts';
import type { SignInLimits } from '../sign-in-limits.ts';
import { answerAccount } from './account.ts';
import type { Host } from './host.ts';
import { createKeys, type KeyRing, type Keys, signingAlgorithm } from './keys.ts';
import { findPerson } from './people.ts';
import { createAdapter, hash } from './records.ts';
import { type Revocation, type RevocationRequest, revokeToken } from './revocation.ts';
import { createSignInPages } from './sign-in.ts';
import { audienceOf, claimsOf, issuerOf } from './token-words.ts';
import type { WebAnswer, WebRequest } from './web.ts';

/** The server as an identity provider. */
export interface IdentityProvider {
  /** Answers what programs ask, and browsers on their behalf; `req.url` begins behind the provider's own path. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** A page of the sign-in with this id. */
  signIn(uid: string, request: WebRequest): Promise<WebAnswer>;
  /** A person's own page. */
  account(request: WebRequest): Promise<WebAnswer>;
  /** Whose an access token is, as programs ask it. Throws `Unauthenticated`. */
  whose(token: string): Promise<ReturnType<typeof claimsOf>>;
  /** Takes back the grant of a token, as a program asks it by a form. */
  revoke(request: RevocationRequest): Promise<Revocation>;
  /** Its own tokens, as the API checks them. */
  asIssuer(): Issuer;
  /** Ends the sessions and refresh tokens of a person. */
  endSessions(user: string): Promise<void>;
  publicUrl(): string;
  /** Where pages of other programs get people back. */
  readonly origins: readonly string[];
  /** Clears away what ended and renews keys from now on; the function it returns stops that. */
  run(): () => Promise<void>;
}

export interface IdentityProviderOptions {
  readonly engine: Engine;
  readonly guesses: SignInLimits;
  /** Where the server is reached, without a slash at the end. */
  publicUrl(): string;
  readonly redirectUris: readonly string[];
  /** After how many days the key that signs is followed by a new one. */
  readonly keyDays: number;
  /** Milliseconds since 1970. */
  now(): number;
  /** Called with defects, and with errors of the housekeeping. */
  report(error: unknown, place: string): void;
}

const day = 86_400;
const housekeepingMs = 600_000;

/** How often a device may ask whether it is let in: every 5 seconds (RFC 8628), and clocks are not exact. */
const pollSeconds = 4;

/** Creates the identity provider of a server. */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { engine, publicUrl } = options;
  const keys = createKeys({
    ...{ database: engine.database, vault: engine.planEnvironment.vault },
    rotateAfter: options.keyDays * day,
  });
  const host = createHost(options, keys);
  const pages = createSignInPages(host);
  return {
    async handle(req, res) {
      const { provider } = await host.open();
      await provider.callback()(req, res);
    },
    signIn: (uid, request) => pages.answer(uid, request),
    account: (request) => answerAccount(host, request),
    whose: (token) => whose(host, keys, token),
    revoke: (request) => revokeToken(host, keys, request),
    asIssuer: () => embeddedIssuer(publicUrl, keys),
    endSessions: (user) => host.endSessions(user),
    publicUrl,
    origins: [...new Set(options.redirectUris.map((uri) => new URL(uri).origin))],
    run: () => runHousekeeping(options, keys),
  };
}

function createHost(options: IdentityProviderOptions, keys: Keys): Host {
  const { engine, guesses, now, publicUrl, redirectUris } = options;
  const records = { database: engine.database, vault: engine.planEnvironment.vault };
  const adapter = createAdapter(records);
  const find: Host['find'] = async (id) => {
    // A person who has signed in before is refused like a new one.
    if (engine.registry.installation.localAuthDisabled) return undefined;
    const person = await findPerson(engine, id);
    return person?.barred === undefined ? person : undefined;
  };
  const mayPoll = (code: string) => takeTurn(engine.database, 'DevicePoll', hash(code), pollSeconds);
  let made: { readonly provider: Provider; readonly ring: KeyRing } | undefined;
  return {
    ...{ engine, guesses, records, now, find, publicUrl },
    async open() {
      // Loaded for the first who signs in: half as much code as the rest of a server.
      const [ring, { makeProvider }] = await Promise.all([keys.current(), import('./configuration.ts')]);
      if (made?.ring.epoch !== ring.epoch) {
        const provider = makeProvider({ publicUrl: publicUrl(), redirectUris, ring, adapter, find, mayPoll });
        provider.on('server_error', (ctx, error) => options.report(error, `${ctx.method} /oidc${ctx.path}`));
        made = { provider, ring };
      }
      return made;
    },
    endSessions: (user, keepUid) =>
      deleteRecordsOf(engine.database, user, keepUid === undefined ? undefined : hash(keepUid)),
  };
}

function embeddedIssuer(publicUrl: () => string, keys: Keys): Issuer {
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

async function whose(host: Host, keys: Keys, token: string): Promise<ReturnType<typeof claimsOf>> {
  const [issuer, audience] = [issuerOf(host.publicUrl()), audienceOf(host.publicUrl())];
  const checked = await jwtVerify(token, keys.find, {
    ...{ issuer, audience, algorithms: [signingAlgorithm], currentDate: new Date(host.now()) },
  }).catch((cause: unknown) => {
    throw new Unauthenticated('token invalid', { cause });
  });
  const { sub = '', grant } = checked.payload;
  if (typeof grant === 'string' && !(await hasGrant(host.engine.database, grant)))
    throw new Unauthenticated('token invalid');
  const person = await host.find(sub);
  if (person === undefined) throw new Unauthenticated('token invalid');
  return claimsOf(person);
}

function runHousekeeping({ engine, report }: IdentityProviderOptions, keys: Keys): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      // Two servers never begin at the same moment for long; being stopped ends the wait.
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
