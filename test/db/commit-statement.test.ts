import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commitStatement } from '../../src/db/commit/commit-statement.ts';
import { runToEnd } from '../../src/lib/steps.ts';

const head = ['account', 1, 2, 0, null] as const;

const parts = fc.subarray([
  ...(['gone_refs', 'gone_keys', 'gone_objects', 'gone_deliveries', 'new_objects', 'changed_objects'] as const),
  ...(['changed_claims', 'new_keys', 'new_refs', 'new_revisions', 'new_changes', 'new_events'] as const),
]);

const conditions = fc.record({
  leases: fc.constantFrom([], [{ name: 'source', fence: 1 }]),
  claimedAt: fc.constantFrom([], [3], [3, 4]),
  contender: fc.constantFrom(undefined, 'server'),
});

it('the statement of a commit has one placeholder for each parameter, whatever it consists of', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(parts, conditions), { minLength: 2, maxLength: 20 }), (commits) => {
      for (const [present, conditionsOfCommit] of commits) {
        const rows = Object.fromEntries(present.map((part) => [part, [{ id: 'x' }]]));
        const { text, parameters } = runToEnd(commitStatement(head, rows, conditionsOfCommit));
        const used = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
        expect(Math.max(...used)).toBe(parameters.length);
        expect(used.size).toBe(parameters.length);
        for (const part of present) expect(text).toContain(`${part} as (`);
      }
    }),
  );
});

it('commits have the same shape exactly when they have the same statement', () => {
  const texts = new Map<string, string>();
  const shapes = new Map<string, string>();
  fc.assert(
    fc.property(parts, conditions, fc.array(fc.string(), { minLength: 1, maxLength: 3 }), (present, given, ids) => {
      const rows = Object.fromEntries(present.map((part) => [part, ids.map((id) => ({ id }))]));
      const { text, shape } = runToEnd(commitStatement(head, rows, given));
      // A statement that is planned each time is not prepared, so it has no shape.
      expect(shape === undefined).toBe(present.some((part) => part.startsWith('gone_')));
      if (shape === undefined) return;
      expect(texts.get(shape) ?? text).toBe(text);
      expect(shapes.get(text) ?? shape).toBe(shape);
      texts.set(shape, text);
      shapes.set(text, shape);
    }),
    { numRuns: 300 },
  );
  expect(texts.size).toBeGreaterThan(10);
});
