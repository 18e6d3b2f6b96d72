import fc from 'fast-check';
import { expect } from 'vitest';
import { jsonInSteps, runToEnd } from '../../src/lib/steps.ts';

/** Returns the JSON of the value, made in steps. */
export const text = (value: unknown) => runToEnd(jsonInSteps(value));

/** Wraps the value in an object that is long enough to be serialised in parts. */
export const within = (value: unknown) => ({ value, filler: 'x'.repeat(300_000) });

/** Makes JSON of random values in steps. */
export function serialiseInSteps(runs: number): void {
  fc.assert(
    fc.property(fc.anything({ withDate: true, withNullPrototype: true, maxDepth: 8 }), (value) => {
      fc.pre(isSerialisable(value));
      expect(text(value)).toBe(JSON.stringify(value) ?? 'null');
      expect(text(within(value))).toBe(JSON.stringify(within(value)));
    }),
    { numRuns: runs },
  );
}

function isSerialisable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    // A bigint, for example.
    return false;
  }
}
