import { watchKey } from '../../db/sealing/sealing.ts';
import { once } from '../../lib/once.ts';
import { server as operations } from '../../operations/server.ts';
import { implement } from '../operations/implement.ts';
import { renderReference } from '../reference-page.ts';

/** The server itself: whether it is there, what it counts, and its interface described for programs and for people. */
export const server = implement(operations, (engine, { describe }, app) => {
  // They are written for the first who asks, or each start took longer.
  const text = once(() => JSON.stringify(describe()));
  const page = once(() => renderReference(describe()));
  return {
    health: () => ({ status: 'ok' }),
    /** The database answers and takes writes, and the secret key is still good. */
    async readiness() {
      await watchKey(engine.database, engine.planEnvironment.vault);
      await engine.database.ping();
      return { status: 'ready' };
    },
    async metrics({ reply }) {
      const metrics = await app.readMetrics();
      return reply.type(metrics.type).send(metrics.text);
    },
    reference({ reply }) {
      void reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
      return page();
    },
    description: ({ reply }) => reply.type('application/json; charset=utf-8').send(text()),
  };
});
