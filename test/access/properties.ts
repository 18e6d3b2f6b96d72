import type { Runs } from './account.ts';
import { testCompiledAccess } from './compiled-properties.ts';
import { testDiffs } from './diff-properties.ts';
import { testMaps } from './map-properties.ts';
import { testQuestions } from './question-properties.ts';
import { testReach } from './reach-properties.ts';
import { testTakeovers } from './takeovers-properties.ts';

/** Declares all property tests of access. `runs` returns the number of runs of each. */
export function testProperties(runs: Runs): void {
  for (const declare of [testCompiledAccess, testDiffs, testMaps, testQuestions, testReach, testTakeovers])
    declare(runs);
}
