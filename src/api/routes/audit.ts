import { readAuditEvents } from '../../features/logs/audit.ts';
import { audit as operations } from '../../operations/audit.ts';
import { sendLong } from '../answers/answers.ts';
import { type Handle, implement } from '../operations/implement.ts';

/** Audit events of the account. */
export const audit = implement(operations, (engine) => {
  const list: Handle<typeof operations.list> = async ({ call, query, request, reply }) => {
    const { events: body, deletedTo } = await readAuditEvents(engine, call, query.before);
    if (deletedTo !== undefined)
      void reply.header(
        'heddle-notice',
        `the audit log does not reach back that far: events up to ${deletedTo} were deleted`,
      );
    return sendLong(request, reply, { version: Number(body[0]?.['id'] ?? 0), body });
  };
  return { list, listByAlias: list };
});
