import { recheckKey } from '../../db/sealing/sealing.ts';
import { once } from '../../lib/once.ts';
import { NotFound } from '../../model/errors.ts';
import type { Profile } from '../../model/profile.ts';
import { server as operations } from '../../operations/server.ts';
import { implement } from '../operations/implement.ts';
import { renderReference } from '../reference-page.ts';

/**
 * Routes about the server: health, readiness, metrics, and the description of its interface for programs and for
 * people.
 */
export const server = implement(operations, (engine, { describe }, app) => {
  // Written on the first request, because writing them at the start would make every start slower.
  const texts = eachOnce(async (profile) => JSON.stringify(await describe(profile)));
  const pages = eachOnce(async (profile) => renderReference(await describe(profile)));
  return {
    home({ request, reply }) {
      // The router treats `*` as the root, although it names no resource.
      if (!request.url.startsWith('/')) throw new NotFound(`${request.method} ${request.url.slice(0, 200)} not found`);
      void reply.headers(pageHeaders);
      return homePage;
    },
    health: () => ({ status: 'ok' }),
    /** Checks that the database answers, that its disk is not full, and that the secret key is still valid. */
    async readiness() {
      await recheckKey(engine.database, engine.planEnvironment.vault);
      await engine.database.ping();
      return { status: 'ready' };
    },
    async metrics({ reply }) {
      const metrics = await app.readMetrics();
      return reply.type(metrics.type).send(metrics.text);
    },
    reference({ request, reply }) {
      void reply.headers(pageHeaders);
      return pages[request.profile]();
    },
    async description({ request, reply }) {
      return reply.type('application/json; charset=utf-8').send(await texts[request.profile]());
    },
  };
});

/** Returns a function for each profile, which writes its text once. */
function eachOnce(write: (profile: Profile) => Promise<string>): Readonly<Record<Profile, () => Promise<string>>> {
  return { specification: once(() => write('specification')), compatible: once(() => write('compatible')) };
}

const pageHeaders = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" };

/** Page to which links in notifications lead. It is open, so it contains nothing about any account. */
const homePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Heddle</title>
<style>:root{color-scheme:light dark} body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:1rem} :target{text-decoration:underline}</style>
</head>
<body>
<h1>Heddle</h1>
<p>This server manages a private mesh network. <a href="/docs">The reference of its interface</a> requires a token, unless the operator opened it.</p>
<h2 id="objects">Links to objects</h2>
<p>An address that ends in <code>#objects/ID</code> is about the object with that id. <code>heddle history --object ID</code> shows what happened to it.</p>
<h2 id="notifications">E-mails from here</h2>
<p>Each e-mail names its notification channel and its account at the end. To get no more of them, ask the people who administer the account to take your address out of the channel: in its document, or with <code>PUT /api/integrations/notifications/channels/ID</code>.</p>
</body>
</html>
`;
