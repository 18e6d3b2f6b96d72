import { sumUpTests } from '../../features/config/access/test-results.ts';
import type { SourceFile } from '../../model/document.ts';
import { InvalidInput } from '../../model/errors.ts';
import type { TestResults } from '../../operations/config/access.ts';
import { checkOffline } from './offline.ts';
import type { ValueConfig } from './values.ts';

const incomplete =
  'the documents name what they do not state, so what they lead to is only known where the rest is; run the tests without --offline, on a server';

/** Runs the access tests of documents without a server. Throws `InvalidInput` when the documents are wrong, or not all there is. */
export async function testOffline(files: readonly SourceFile[], config: ValueConfig): Promise<TestResults> {
  const { problems, warnings, tests } = await checkOffline(files, config);
  const faults = problems.filter(({ code }) => code !== 'access_test_failed');
  if (faults.length > 0) throw new InvalidInput('the documents are wrong', { problems: faults });
  if (tests === undefined)
    // Problems are all that people are shown of wrong input.
    throw new InvalidInput(incomplete, {
      problems: [...warnings, { code: 'documents_incomplete', message: incomplete }],
    });
  return { revision: 0, ...sumUpTests(tests) };
}
