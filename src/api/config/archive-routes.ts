import type { FastifyInstance } from 'fastify';
import { backUp } from '../../engine/archive/backup.ts';
import { restoreObjects } from '../../engine/archive/restore-objects.ts';
import { planOnlyRefusal } from '../../engine/commit.ts';
import { InvalidInput, NotAllowed } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { queryOf, switchOf } from './request.ts';

/** Archives are kept in memory, compressed, while they are checked and written. */
const archiveLimit = 512 * 1024 * 1024;

/** An archive holds everything, hashes of tokens too: it is for those who may do everything in the account. */
const ownersOnly = { module: 'accounts', operation: 'update' } as const;

const gzipTypes = ['application/gzip', 'application/x-gzip', 'application/octet-stream'];

/** The routes by which an account is written as an archive, and its objects are put back to what they were. */
export function addArchiveRoutes(app: FastifyInstance, { engine, version }: ConfigRoutesOptions): void {
  app.addContentTypeParser(gzipTypes, { parseAs: 'buffer', bodyLimit: archiveLimit }, (_request, body, done) =>
    done(null, body),
  );
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
  app.post('/api/config/restore', { bodyLimit: archiveLimit, config: { access: ownersOnly } }, async (request) => {
    if (!Buffer.isBuffer(request.body))
      throw new InvalidInput(
        'the body must be an archive that `heddle backup` wrote; send it with `Content-Type: application/gzip`',
      );
    return restoreObjects(engine, callOf(request), request.body, queryOf(request)['replace']);
  });
}
