import fc from 'fast-check';
import type { How } from './model.ts';
import { play } from './run.ts';
import { sequencesIn } from './sequence.ts';

/** Plays so many interleavings of sources that are applied in one of these modes against the model. */
export function playAgainstModel(modes: readonly How['mode'][], count: number): void {
  fc.assert(
    fc.property(sequencesIn(modes), (sequence) => {
      play(sequence);
    }),
    { numRuns: count },
  );
}
