import { expect, test } from 'vitest';
import { groupModulesByStart } from '../../src/gen/release/together.ts';

test('grouping modules fails for an entry file that is not part of the program', () => {
  const [group] = groupModulesByStart('/program');
  if (typeof group?.name !== 'function') throw new Error('the names follow from the modules');
  const { name } = group;
  expect(() => name('/program/src/main.ts', { getModuleInfo: () => null })).toThrow(
    '/program/src/main.ts is not part of the program',
  );
});
