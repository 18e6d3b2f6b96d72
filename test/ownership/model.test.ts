import { it } from 'vitest';
import { playAgainstModel } from './on-model.ts';

it('E158 some interleavings of sources in all modes agree with the model, converge and never ping-pong', () => {
  playAgainstModel(['guard', 'correct', 'observe', 'seed'], 20);
});

it('E158 some interleavings of sources in guard mode agree with the model, converge and never ping-pong', () => {
  playAgainstModel(['guard'], 20);
});
