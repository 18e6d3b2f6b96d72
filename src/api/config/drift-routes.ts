import { reportDrift } from '../../features/config/history/drift.ts';
import { drift as operations } from '../../operations/config/drift.ts';
import { implement } from '../operations/implement.ts';

/** What is not as it is stated. */
export const drift = implement(operations, (engine) => ({
  read: ({ call, query }) => reportDrift(engine, call, query.source),
}));
