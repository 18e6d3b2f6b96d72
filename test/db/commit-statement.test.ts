import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commitStatement } from '../../src/db/commit/commit-statement.ts';
import { runToEnd } from '../../src/lib/steps.ts';

const head = ['account', 1, 2, 0, null] as const;

const parts = fc.subarray([
  ...(['gone_refs', 'gone_keys', 'gone_objects', 'gone_deliveries', 'created', 'new_objects'] as const),
  ...([
    'changed_objects',
    'changed_claims',
    'new_keys',
    'new_refs',
    'new_revisions',
    'new_changes',
    'new_events',
  ] as const),
]);

const conditions = fc.record({
  leases: fc.constantFrom([], [{ name: 'source', fence: 1 }]),
  claimedAt: fc.constantFrom([], [3], [3, 4]),
  contender: fc.constantFrom(undefined, 'server'),
});

it('the statement of a commit has one placeholder for each parameter, whatever it consists of', () => {
  fc.assert(
    fc.property(parts, conditions, (present, given) => {
      const rows = Object.fromEntries(present.map((part) => [part, [{ id: 'x' }]]));
      const { text, parameters } = runToEnd(commitStatement(head, rows, given));
      const used = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      expect([...used].sort((a, b) => a - b)).toEqual(parameters.map((_, at) => at + 1));
      for (const part of present) expect(text).toContain(`${part} as (`);
    }),
  );
});
