import { askAccess } from '../../features/config/access/explain-access.ts';
import { readTests } from '../../features/config/access/test-results.ts';
import { access as operations } from '../../operations/config/access.ts';
import { implement } from '../operations/implement.ts';

/** Who may reach whom, and whether that is as expected. */
export const access = implement(operations, (engine) => ({
  explain: ({ call, query }) => askAccess(engine, call, query),
  runTests: ({ call }) => readTests(engine, call),
}));
