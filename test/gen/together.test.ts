import { expect, test } from 'vitest';
import { togetherByStart } from '../../src/gen/release/together.ts';

test('a start that is not part of the program is a mistake, and not a file that is grouped no more', () => {
  const [group] = togetherByStart('/program');
  if (typeof group?.name !== 'function') throw new Error('the names follow from the modules');
  const { name } = group;
  expect(() => name('/program/src/main.ts', { getModuleInfo: () => null })).toThrow(
    '/program/src/main.ts is not part of the program',
  );
});
