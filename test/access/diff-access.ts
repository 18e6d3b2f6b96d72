import { type AccessDiff, diffAccessInSteps } from '../../src/access/diff/diff.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { runToEnd } from '../../src/lib/steps.ts';

/** Compares two images of an account in one synchronous call. */
export function diffAccess(before: AccessImage, after: AccessImage): AccessDiff {
  return runToEnd(diffAccessInSteps(before, after));
}
