import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import type { AccessLine } from '../../src/api/access-log.ts';
import type { ProfileSettings } from '../../src/api/profile/profile.ts';
import { type CorsOrigins, createApi, type TrustedProxies } from '../../src/api/server.ts';
import { createEngine, firstObjects, productRegistry } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import type { Database } from '../../src/db/database.ts';
import { tracedDatabase } from '../../src/db/traced.ts';
import { createReader } from '../../src/documents/reader.ts';
import {
  createAuthenticator,
  createTokenUses,
  type PersonAuthenticator,
} from '../../src/features/auth/authenticate.ts';
import { ensureMachineOwner } from '../../src/features/auth/bootstrap.ts';
import type { LocalSignIn } from '../../src/features/auth/local-people.ts';
import { createTokenCache } from '../../src/features/auth/token-cache.ts';
import type { RequestSync } from '../../src/features/integrations/directory/dispatcher.ts';
import type { OpenTarget } from '../../src/features/integrations/targets.ts';
import type { Cities } from '../../src/features/peers/cities.ts';
import type { SourceRules } from '../../src/features/sources/source-admin.ts';
import type { Json } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import type { Log } from '../../src/log.ts';
import type { Installation } from '../../src/model/declare/installation.ts';
import type { PlanEnvironment } from '../../src/model/declare/plan-environment.ts';
import type { Edition } from '../../src/model/edition.ts';
import type { RateLimit } from '../../src/model/rate-limit.ts';
import { createDnsLookups } from '../../src/outbound/dns.ts';
import type { Tracer } from '../../src/telemetry/span.ts';
import { type Engine as Kind, testDatabase } from '../setup/database.ts';
import { cheapPasswordCost } from '../setup/password-cost.ts';
import { addPeers } from '../setup/peers.ts';
import { present } from '../setup/present.ts';
import { type AnswerCheck, createAnswerCheck } from './answer-check.ts';
import { watchAnswers } from './watch-answers.ts';

/** Token of the machine owner in tests. */
export const token = makeToken('nbp_', new Uint8Array(32).fill(7));

/** Token of the operator in tests. `asOperator` is the header of a call by the operator. */
export const operatorToken = makeToken('nbo_', new Uint8Array(32).fill(9));
export const asOperator = { authorization: `Bearer ${operatorToken}` };

/** Answer to a request. `body` is the parsed JSON, or the text if the answer is not JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // Tests look into bodies member by member; a wrong member is `undefined` and fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly body: any;
}

export type Call = (
  method: string,
  url: string,
  body?: Json,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** A server with a new account. It does not listen on a socket. */
export interface TestApi extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly engine: Engine;
  readonly account: string;
  /**
   * Defects that the server answered with 500, and answers that the OpenAPI document does not describe. A test fails if
   * there is any.
   */
  readonly defects: unknown[];
  /**
   * Sends JSON with the owner's token; a body that is a text is sent unchanged. Every answer is checked against the
   * OpenAPI document.
   */
  readonly call: Call;
  /** Creates peers with these labels and returns their ids. */
  peers(...labels: readonly string[]): Promise<readonly string[]>;
  /** Creates a group and returns its id. */
  group(name: string, peers?: readonly string[]): Promise<string>;
  /** Returns the number of the newest revision. */
  revision(): Promise<number>;
}

/** Options in which the server of a test differs from the default. */
export interface TestApiOptions {
  readonly edition?: Edition;
  readonly rateLimit?: RateLimit;
  readonly planRateLimit?: RateLimit;
  readonly pendingTenants?: number;
  readonly profile?: ProfileSettings;
  readonly cities?: Cities;
  readonly corsOrigins?: CorsOrigins;
  readonly trustProxy?: TrustedProxies;
  readonly valueFrom?: PlanEnvironment['valueFrom'];
  readonly shareValues?: boolean;
  readonly mayUse?: PlanEnvironment['mayUse'];
  readonly literalSecrets?: boolean;
  /** Keys for secrets, for example those of another server on the same database. */
  readonly vault?: PlanEnvironment['vault'];
  readonly archiveSigner?: PlanEnvironment['archiveSigner'];
  readonly resolveTxt?: Engine['resolveTxt'];
  readonly resolveCname?: Engine['resolveCname'];
  readonly localPeople?: LocalSignIn;
  /** Absent: practically no limit for anonymous callers. */
  readonly anonymousRateLimit?: RateLimit;
  readonly deletesIdpUsers?: boolean;
  readonly installation?: Installation;
  readonly log?: Log;
  /** Starts spans for requests and for the work that the server does by itself. */
  readonly tracer?: Tracer | undefined;
  /** Called when a request has ended. */
  readonly logAccess?: (line: AccessLine) => void;
  /** Whether `logAccess` is called for lines of the level `debug`. Absent: it is. */
  readonly logsDebug?: boolean;
  /** Returns the rules for sources, given the engine and the account. */
  readonly sources?: (engine: Engine, account: string) => SourceRules;
  /** Opens the targets of channels. */
  readonly openTarget?: OpenTarget;
  /** Syncs directories. */
  readonly requestSync?: (engine: Engine) => RequestSync;
  /** Returns the authenticator of people who use tokens of identity providers. */
  readonly people?: (engine: Engine) => PersonAuthenticator;
}

/** Creates the HTTP interface on a new database. */
export async function testApi(kind: Kind = 'postgres', options: TestApiOptions = {}): Promise<TestApi> {
  const made = await testDatabase(kind);
  return apiOn(made.database, () => made[Symbol.asyncDispose](), options);
}

/** Returns one server for all tests of a file or suite. The tests must not disturb each other. */
export function sharedApi(options: TestApiOptions = {}): () => TestApi {
  let made: TestApi | undefined;
  beforeAll(async () => {
    made = await testApi('postgres', options);
  });
  afterAll(() => made?.[Symbol.asyncDispose]());
  return () => {
    if (made === undefined) throw new Error('the server is made before the first test');
    return made;
  };
}

/** Creates the HTTP interface on a migrated database. Creates the account if the database has none. */
export async function apiOn(
  database: Database,
  dispose: () => PromiseLike<void>,
  {
    rateLimit,
    planRateLimit,
    pendingTenants,
    profile,
    cities,
    corsOrigins,
    trustProxy,
    sources,
    people,
    localPeople,
    openTarget,
    requestSync,
    logAccess,
    logsDebug = true,
    ...given
  }: TestApiOptions = {},
): Promise<TestApi> {
  const defects: unknown[] = [];
  const engine = engineOn(given.tracer === undefined ? database : tracedDatabase(database), given);
  const owned = await ensureMachineOwner(engine, {
    dataDir: '/nowhere',
    token,
    firstObjects: firstObjects(engine),
    report: () => {},
  });
  const { account } = present(owned);
  // Reader threads for small documents are tested elsewhere. The server of a test lives hardly longer than a thread
  // takes to start.
  const reader = createReader({ maxInlineCharacters: 64 * 1024 });
  const uses = createTokenUses(database, { now: Date.now, gatherMs: 1 });
  const app = await createApi({
    engine,
    reader,
    authenticator: createAuthenticator({
      ...{ database, snapshots: engine.snapshots, now: Date.now, tokenUses: uses, operatorToken },
      tokenCache: createTokenCache({ notices: engine.notices, now: Date.now }),
      ...(people === undefined ? {} : { personAuthenticator: people(engine) }),
    }),
    version: '0.0.0-test',
    openEndpoints: [],
    ...(sources === undefined ? {} : { sources: sources(engine, account) }),
    anonymousRateLimit: given.anonymousRateLimit ?? { perMinute: 1e6, burst: 1e6 },
    ...(localPeople === undefined ? {} : { localPeople }),
    ...(openTarget === undefined ? {} : { openTarget }),
    ...(logAccess === undefined ? {} : { logAccess, logsDebug }),
    ...(requestSync === undefined ? {} : { requestSync: requestSync(engine) }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(planRateLimit === undefined ? {} : { planRateLimit }),
    ...(pendingTenants === undefined ? {} : { pendingTenants }),
    ...(profile === undefined ? {} : { profile }),
    ...(cities === undefined ? {} : { cities }),
    ...(corsOrigins === undefined ? {} : { corsOrigins }),
    ...(trustProxy === undefined ? {} : { trustProxy }),
    report: (error) => defects.push(error),
  });
  const check = await createAnswerCheck(engine.registry, engine.planEnvironment.edition, profile?.profile);
  watchAnswers(app, check, (fault) => defects.push(fault));
  const call = createCall(app, check);
  return {
    app,
    engine,
    account,
    defects,
    call,
    peers: (...labels) => addPeers(engine, account, labels),
    group: async (name, peers = []) => (await call('POST', '/api/groups', { name, peers })).body.id,
    revision: async () => (await call('GET', '/api/config/revisions?limit=1')).body[0].revision,
    async [Symbol.asyncDispose]() {
      await app.close();
      await uses.close();
      await engine.committer.settle();
      await reader.close();
      await dispose();
      if (defects.length > 0)
        throw new AggregateError(defects, 'the API answered with 500, or with what is not described');
    },
  };
}

function engineOn(
  database: Database,
  {
    log = () => {},
    resolveTxt,
    resolveCname,
    installation,
    shareValues = false,
    tracer,
    ...planEnvironment
  }: Omit<TestApiOptions, 'people' | 'localPeople' | 'openTarget' | 'requestSync'>,
): Engine {
  const own = createDnsLookups();
  const dns = { resolveTxt: resolveTxt ?? own.resolveTxt, resolveCname: resolveCname ?? own.resolveCname };
  const plain = createEngine({ database, log, kinds: productRegistry(installation), dns });
  return createEngine({
    ...{ database, log, kinds: plain.registry, dns, passwordCost: cheapPasswordCost, tracer },
    planEnvironment: {
      ...plain.planEnvironment,
      mayUse: ({ isPushed }) => shareValues || !isPushed,
      ...planEnvironment,
    },
  });
}

/** Returns a function that sends JSON with the owner's token and checks every answer. */
export function createCall(app: FastifyInstance, check: AnswerCheck): Call {
  return async (method, url, body, headers = {}) => {
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: { authorization: `Token ${token}`, ...type, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const answer = {
      status: response.statusCode,
      headers: response.headers as Readonly<Record<string, string>>,
      body: parse(response.body, String(response.headers['content-type'] ?? '')),
    };
    check(method, url, answer);
    return answer;
  };
}

function parse(text: string, type: string): unknown {
  return type.startsWith('application/json') && text !== '' ? JSON.parse(text) : text;
}
