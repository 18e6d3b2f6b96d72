import fc from 'fast-check';
import { it } from 'vitest';
import { play } from './run.ts';
import { sequencesIn } from './sequence.ts';

it('E158 10,000 interleavings of sources in all modes agree with the model, converge and never ping-pong', () => {
  fc.assert(
    fc.property(sequencesIn(['guard', 'correct', 'observe', 'seed']), (sequence) => {
      play(sequence);
    }),
    { numRuns: 10_000 },
  );
}, 300_000);
