import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageHeaders, pagePolicy } from '../features/auth/provider/pages/layout.ts';
import type { IdentityProvider } from '../features/auth/provider/provider.ts';
import { revocationPath } from '../features/auth/provider/revocation.ts';
import type { WebAnswer } from '../features/auth/provider/web.ts';
import { clientNetworkOf } from '../lib/net/address.ts';
import { BadBody } from './input/bodies.ts';
import { createAddressLimit } from './rate-limit.ts';

const mount = '/oidc';

/** Rate limit per address. It bounds the sign-ins that an address can begin, because each of them is stored. */
const addressRateLimit = { perMinute: 300, burst: 600 };

/** Maximum size of a form, in bytes. The forms of this server are much shorter. */
const maxFormBytes = 32 * 1024;

/**
 * Mounts the embedded identity provider: the endpoints for programs under `/oidc`, and the pages for people under
 * `/signin`.
 */
export async function addIdentityProvider(app: FastifyInstance, provider: IdentityProvider): Promise<void> {
  const slowDown = createAddressLimit(addressRateLimit);
  await app.register(async (scope) => {
    scope.addHook('onRequest', slowDown);
    // The provider parses bodies itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.get(`${mount}/me`, async (request) => provider.readTokenClaims(bearerOf(request)));
    scope.route({
      method: ['GET', 'POST'],
      url: `${mount}/*`,
      config: { ownQuery: true },
      handler: (request, reply) => forwardToProvider(provider, request, reply),
    });
  });
  await app.register(async (scope) => {
    scope.addHook('onRequest', slowDown);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) => {
      const form = new URLSearchParams(String(text));
      // No field accepts NUL, and no value that is looked up by a field contains it.
      if ([...form].flat().some((part) => part.includes('\0'))) done(new BadBody('the form contains NUL; remove it'));
      else done(null, form);
    });
    scope.post(`${mount}${revocationPath}`, { bodyLimit: maxFormBytes }, async (request, reply) => {
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
      const { status, ...refusal } = await provider.revoke({ form, authorization: request.headers.authorization });
      void reply.code(status).header('cache-control', 'no-store');
      return status === 200 ? reply.send() : reply.send(refusal);
    });
    scope.route({
      ...{ method: ['GET', 'POST'], url: '/signin/account', bodyLimit: maxFormBytes },
      handler: async (request, reply) =>
        send(reply, await provider.answerAccountPage(webRequest(provider, request, reply))),
    });
    scope.route({
      ...{ method: ['GET', 'POST'], url: '/signin/:uid', bodyLimit: maxFormBytes },
      handler: async (request, reply) => {
        // The route declares this parameter.
        const { uid } = request.params as { readonly uid: string };
        return send(reply, await provider.answerSignIn(uid, webRequest(provider, request, reply)));
      },
    });
  });
}

function bearerOf({ headers }: FastifyRequest): string {
  return /^bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/**
 * Sets the headers from which the provider derives the server's address. The address in the client's headers is not
 * trusted.
 */
function setServerAddress(provider: IdentityProvider, { raw, ip }: FastifyRequest): void {
  const url = new URL(provider.publicUrl());
  raw.headers.host = url.host;
  raw.headers['x-forwarded-proto'] = url.protocol.slice(0, -1);
  raw.headers['x-forwarded-for'] = ip;
  delete raw.headers['x-forwarded-host'];
}

async function forwardToProvider(
  provider: IdentityProvider,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw } = request;
  setServerAddress(provider, request);
  reply.hijack();
  for (const [name, value] of Object.entries({ ...protectedBy(reply), ...pageHeaders }))
    reply.raw.setHeader(name, value);
  reply.raw.removeHeader('content-type');
  // The provider adds the hashes of its own scripts to this directive.
  const policy = `${pagePolicy(['http://127.0.0.1:*', 'http://localhost:*', ...provider.origins])}; script-src 'report-sample'`;
  reply.raw.setHeader('content-security-policy', policy);
  // The provider expects paths without the mount prefix.
  Object.assign(raw, { originalUrl: raw.url, url: withoutCode((raw.url ?? '').slice(mount.length)) });
  await provider.handle(raw, reply.raw);
}

/** Returns the headers that every answer has, except those for CORS, which the provider sets itself. */
function protectedBy(reply: FastifyReply): Readonly<Record<string, string>> {
  const kept = Object.entries(reply.getHeaders()).filter(([name]) => !/^(access-control-|vary$)/.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

/**
 * Removes the query of a `/device` URL, however the path is spelled. The provider would submit the `user_code` in it at
 * once; the page only fills it in, and the person submits the form.
 */
function withoutCode(url: string): string {
  return /^\/device\/*\?/i.test(url) ? '/device' : url;
}

function webRequest(provider: IdentityProvider, request: FastifyRequest, reply: FastifyReply) {
  setServerAddress(provider, request);
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  const filled = request.method === 'POST' ? { form } : {};
  return { req: request.raw, res: reply.raw, address: clientNetworkOf(request.ip), ...filled };
}

function send(reply: FastifyReply, answer: WebAnswer): FastifyReply {
  void reply.headers(pageHeaders);
  if ('location' in answer) return reply.redirect(answer.location, 303);
  const { status, page, targets, headers = {} } = answer;
  return reply
    .code(status)
    .headers({ ...headers, 'content-security-policy': pagePolicy(targets) })
    .send(page);
}
