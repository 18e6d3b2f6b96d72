import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** Audience of tokens for the API in tests. */
export const audience = 'https://mesh.example.com/api';

/** A separate identity provider on its own port: `oidc-provider` with one signing key. */
export interface TestProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Returns how often the provider's keys were requested. */
  readonly keyReads: () => number;
  /** Returns a token that the provider issues for the subject, with additional claims. */
  token(subject: string, claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Returns a token with any payload, signed with the provider's current key, as a thief of the key could sign it. */
  sign(payload: JWTPayload, header?: { readonly alg?: string; readonly kid?: string }): Promise<string>;
  /** Returns the current public key. */
  publicKey(): JWK;
  /** Replaces the signing key. */
  rotate(): Promise<void>;
  /** `stop` closes the provider's port; `start` opens it again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts an identity provider. */
export async function startProvider(): Promise<TestProvider> {
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  let key = await newKey(0);
  let [rotations, reads] = [0, 0];
  const people = new Map<string, Readonly<Record<string, unknown>>>();
  let server = await listen((request, response) => {
    if (request.url === '/jwks') reads++;
    listener(request, response);
  });
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;

  const provide = (): void => {
    const clients = [...people.keys()].map((client_id) => ({
      ...{ client_id, client_secret: 'secret', redirect_uris: [], response_types: [] },
      grant_types: ['client_credentials'],
    }));
    listener = new Provider(issuer, {
      clients,
      adapter: Forgetful,
      ttl: { ClientCredentials: 600 },
      jwks: { keys: [key] },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({ scope: '', accessTokenFormat: 'jwt', audience }),
        },
      },
      extraTokenClaims: (_context, token) => ({ ...people.get(String(token.clientId)) }),
    }).callback();
  };
  provide();

  return {
    issuer,
    keyReads: () => reads,
    publicKey: () => ({ kty: key.kty ?? '', n: key.n ?? '', e: key.e ?? '', kid: key.kid ?? '' }),
    async token(subject, claims = {}) {
      people.set(subject, claims);
      provide();
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${encodeURIComponent(subject)}:secret`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
      });
      const body = (await answer.json()) as { readonly access_token?: string };
      if (body.access_token === undefined) throw new Error(`the provider answers ${JSON.stringify(body)}`);
      return body.access_token;
    },
    async sign(payload, { alg = 'RS256', kid = key.kid ?? '' } = {}) {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, aud: audience, sub: 'ana', iat: now, exp: now + 300, ...payload };
      return new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(await importJWK(key, alg));
    },
    async rotate() {
      key = await newKey(++rotations);
      provide();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    async start() {
      server = await listen((request, response) => listener(request, response), port);
    },
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Adapter that stores nothing: signed tokens can be verified without stored state. */
class Forgetful {
  async upsert(): Promise<void> {}
  async find(): Promise<undefined> {}
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async consume(): Promise<void> {}
  async destroy(): Promise<void> {}
  async revokeByGrantId(): Promise<void> {}
}

async function newKey(number: number): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: `key-${number}`, alg: 'RS256', use: 'sig' };
}

async function listen(listener: RequestListener, port = 0): Promise<Server> {
  const server = createServer(listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
