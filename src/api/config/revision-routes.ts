import { listHistory, showRevision } from '../../features/config/history/history.ts';
import { InvalidInput } from '../../model/errors.ts';
import { revisions as operations } from '../../operations/config/revisions.ts';
import { implement } from '../operations/implement.ts';
import { requireKnownKind } from './known-kind.ts';

/** Revisions of the account. */
export const revisions = implement(operations, (engine) => ({
  list({ call, query: { since, until, ...query } }) {
    requireKnownKind(engine.registry, query.kind);
    if (since !== undefined && until !== undefined && since >= until)
      throw new InvalidInput('`since` must be before `until`');
    return listHistory(engine, call, {
      ...query,
      ...(since === undefined ? {} : { since: new Date(since) }),
      ...(until === undefined ? {} : { until: new Date(until) }),
    });
  },
  read: ({ call, params }) => showRevision(engine, call, params.revision),
}));
