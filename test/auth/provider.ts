import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** What the API of the tests is called as an audience. */
export const audience = 'https://mesh.example.com/api';

/** An identity provider of its own, on a port of its own: `oidc-provider` with its signing key. */
export interface TestProvider extends AsyncDisposable {
  readonly issuer: string;
  /** How often its keys were asked for. */
  readonly keyReads: () => number;
  /** The token that the provider gives to somebody, with more claims about them. */
  token(subject: string, claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** A token that is signed with the provider's present key by a thief. */
  sign(payload: JWTPayload, header?: { readonly alg?: string; readonly kid?: string }): Promise<string>;
  /** The public key of the present time. */
  publicKey(): JWK;
  /** Replaces the signing key. */
  rotate(): Promise<void>;
  /** Stops answering, or answers again. */
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

/** Signed tokens need no memory. */
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
