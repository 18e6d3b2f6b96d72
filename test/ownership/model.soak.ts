import { it } from 'vitest';
import { playAgainstModel } from './on-model.ts';

it('E158 100,000 interleavings of sources in all modes agree with the model, converge and never ping-pong', () => {
  playAgainstModel(['guard', 'correct', 'observe', 'seed'], 100_000);
}, 3_600_000);

it('E158 100,000 interleavings of sources in guard mode agree with the model, converge and never ping-pong', () => {
  playAgainstModel(['guard'], 100_000);
}, 3_600_000);
