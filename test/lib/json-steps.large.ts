import { it } from 'vitest';
import { serialiseInSteps } from './json-texts.ts';

it('JSON made in steps equals the result of JSON.stringify', () => {
  serialiseInSteps(300);
});
