import type { FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../../commit/commit.ts';
import { archiveOfBytes, type PackedArchive } from '../../db/archive/packed.ts';
import { backUp } from '../../features/config/archive/backup.ts';
import { findRestored, restoreObjects } from '../../features/config/archive/restore-objects.ts';
import { InvalidInput, NotAllowed } from '../../model/errors.ts';
import { archive as operations } from '../../operations/config/archive.ts';
import { implement } from '../operations/implement.ts';
import { bodyLimit } from './body-limit.ts';
import { sendExport } from './export.ts';
import { createRestoreSlots } from './restore-slots.ts';

/** Export of the account as documents, backup as an archive, and restore. */
export const archive = implement(operations, (engine, { version, planLimit }) => {
  const slots = createRestoreSlots();
  return {
    export: ({ call, query, reply }) => sendExport(engine, call, query, reply),
    async backUp({ call, query, reply }) {
      if (call.planOnly === true) throw new NotAllowed(planOnlyRefusal);
      const { account, revision, stream } = await backUp(engine, call.account, { ...query, program: version });
      return reply
        .header('cache-control', 'no-store')
        .header('content-type', 'application/gzip')
        .header('content-disposition', `attachment; filename="heddle-${account}-${revision}.ndjson.gz"`)
        .send(stream);
    },
    restore: {
      bodyLimit,
      onRequest: [planLimit, slots.take],
      recover: async ({ call, request }, { revision }) =>
        revision === undefined
          ? undefined
          : slots.run(request, () => findRestored(engine, call, archiveOf(request), revision)),
      handle({ call, query, request }) {
        const sent = archiveOf(request);
        return slots.run(request, () => restoreObjects(engine, call, sent, query.replace));
      },
    },
  };
});

function archiveOf({ body }: FastifyRequest): PackedArchive {
  if (Buffer.isBuffer(body)) return archiveOfBytes(body);
  throw new InvalidInput(
    'the body must be an archive that `heddle backup` wrote; send it with `Content-Type: application/gzip`',
  );
}
