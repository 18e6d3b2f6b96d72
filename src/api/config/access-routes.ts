import { answerAccessQuestion } from '../../features/config/access/explain-access.ts';
import { readTests } from '../../features/config/access/test-results.ts';
import { access as operations } from '../../operations/config/access.ts';
import { implement } from '../operations/implement.ts';

/** Queries about access between peers, and the results of access tests. */
export const access = implement(operations, (engine) => ({
  explain: ({ call, query }) => answerAccessQuestion(engine, call, query),
  runTests: ({ call }) => readTests(engine, call),
}));
