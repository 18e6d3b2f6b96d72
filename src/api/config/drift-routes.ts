import { reportDrift } from '../../features/config/history/drift.ts';
import { drift as operations } from '../../operations/config/drift.ts';
import { implement } from '../operations/implement.ts';

/** Drift of the account from its sources. */
export const drift = implement(operations, (engine) => ({
  read: ({ call, query }) => reportDrift(engine, call, query.source),
}));
