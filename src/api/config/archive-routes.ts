import type { FastifyInstance } from 'fastify';
import { backUp } from '../../engine/archive/backup.ts';
import { restoreObjects } from '../../engine/archive/restore-objects.ts';
import { planOnlyRefusal } from '../../engine/commit.ts';
import { InvalidInput, NotAllowed } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
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
  const restoring = { bodyLimit, onRequest: [planLimit, slots.take], config: { access: ownersOnly } };
  app.post('/api/config/restore', restoring, async (request) => {
    const { body } = request;
    if (!Buffer.isBuffer(body))
      throw new InvalidInput(
        'the body must be an archive that `heddle backup` wrote; send it with `Content-Type: application/gzip`',
      );
    return slots.run(request, () => restoreObjects(engine, callOf(request), body, queryOf(request)['replace']));
  });
}
