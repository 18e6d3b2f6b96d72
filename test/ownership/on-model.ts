import fc from 'fast-check';
import type { How } from './model.ts';
import { play } from './run.ts';
import { sequencesIn } from './sequence.ts';

/** Plays `count` interleavings of sources with any of these conflict modes against the model. */
export function playAgainstModel(modes: readonly How['mode'][], count: number): void {
  fc.assert(
    fc.property(sequencesIn(modes), (sequence) => {
      play(sequence);
    }),
    { numRuns: count },
  );
}
