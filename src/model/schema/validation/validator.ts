import type { JsonObject } from '../../../lib/json.ts';
import type { Fault } from '../../declare/kind.ts';
import type { Surface } from '../../lower/shape.ts';
import { maxProblems } from '../../problem.ts';
import type { StoredValues } from './stored-values.ts';

/** One fault more than an answer lists, so that the answer can say that there are more. */
export const maxFaults = maxProblems + 1;

/** Checks the shape of specs against one schema per kind and surface, each compiled at first use. */
export interface Validator {
  /**
   * Returns the faults, with JSON pointers into the spec, and stops soon after `most` of them. Messages never repeat a
   * value, because it may be a secret. A text that is too long or a number out of range is no fault when it is stored
   * already, and a list that is too long is none when the stored one is at least as long.
   */
  check(kind: string, surface: Surface, spec: JsonObject, stored?: StoredValues, most?: number): readonly Fault[];
}
