import type { FastifyInstance, FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../../commit/commit.ts';
import { backUp } from '../../features/config/archive/backup.ts';
import { findRestored, restoreObjects } from '../../features/config/archive/restore-objects.ts';
import { InvalidInput, NotAllowed } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import type { Recover } from '../idempotency.ts';
import { bodyLimit, type ConfigRoutesOptions } from './options.ts';
import { queryOf, switchOf } from './request.ts';
import { createRestoreSlots } from './restore-slots.ts';

/** An archive holds everything, hashes of tokens too: it is for those who may do everything in the account. */
const ownersOnly = { module: 'accounts', operation: 'update' } as const;

const gzipTypes = ['application/gzip', 'application/x-gzip', 'application/octet-stream'];

/** The routes by which an account is written as an archive, and its objects are put back to what they were. */
export function addArchiveRoutes(app: FastifyInstance, { engine, version, planLimit }: ConfigRoutesOptions): void {
  app.addContentTypeParser(gzipTypes, { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));
  app.get('/api/config/backup', { config: { access: ownersOnly } }, async (request, reply) => {
    const { planOnly, account: of } = callOf(request);
    if (planOnly === true) throw new NotAllowed(planOnlyRefusal);
    const history = switchOf(queryOf(request), 'history', true);
    const { account, revision, stream } = await backUp(engine, of, { history, program: version });
    return reply
      .header('cache-control', 'no-store')
      .header('content-type', 'application/gzip')
      .header('content-disposition', `attachment; filename="heddle-${account}-${revision}.ndjson.gz"`)
      .send(stream);
  });
  const slots = createRestoreSlots();
  const recover: Recover = async (request, _reply, { revision }) =>
    revision === undefined
      ? undefined
      : slots.run(request, () => findRestored(engine, callOf(request), archiveOf(request), revision));
  const restoring = { bodyLimit, onRequest: [planLimit, slots.take], config: { access: ownersOnly, recover } };
  app.post('/api/config/restore', restoring, async (request) => {
    const archive = archiveOf(request);
    return slots.run(request, () => restoreObjects(engine, callOf(request), archive, queryOf(request)['replace']));
  });
}

function archiveOf({ body }: FastifyRequest): Buffer {
  if (Buffer.isBuffer(body)) return body;
  throw new InvalidInput(
    'the body must be an archive that `heddle backup` wrote; send it with `Content-Type: application/gzip`',
  );
}
