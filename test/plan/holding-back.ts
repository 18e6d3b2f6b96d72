import fc from 'fast-check';
import { expect } from 'vitest';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { accounts } from './arbitrary.ts';
import { applyOn, office, planHolding, planned, planOn, refusals } from './steps.ts';

export const fileOf = (kind: string, name: string) => `${kind}-${name}.json`;
export const inFile = (one: Document): Document => ({
  ...one,
  position: { ...one.position, file: fileOf(one.kind, one.metadata.name) },
});
export const broken = (one: Document): Document => ({ ...one, spec: { ...one.spec, wrong: true } });

/** Changes random accounts into others, some of whose documents are broken and thus held back. */
export function holdBackInAccounts(runs: number): void {
  const cases = fc.tuple(accounts, accounts, fc.infiniteStream(fc.boolean()));
  fc.assert(
    fc.property(cases, ([before, after, breaks]) => {
      const old = before.map(inFile);
      const state = applyOn(office, 's', old);
      const flags = after.map(() => breaks.next().value);
      const stated = after.map(inFile).map((one, at) => (flags[at] === true ? broken(one) : one));
      const outcome = planned(planHolding(state, 's', stated));
      const held = new Set((outcome.plan.heldBack ?? []).map(({ file }) => file));
      const kept = old.filter(({ position }) => held.has(position.file));
      // Objects that kept documents refer to stay too, whether they are still stated or not.
      const texts = JSON.stringify(kept.map(({ spec }) => spec));
      const files = new Set(stated.map(({ position }) => position.file));
      const used = old.filter(
        ({ metadata, position }) => !files.has(position.file) && texts.includes(`"${metadata.name}"`),
      );
      const good = stated.filter(({ position }) => !held.has(position.file));
      const model = planOn(state, 's', [...kept, ...used, ...good]);
      // A child that moves between a separate document and its parent's document is stated twice in this model.
      fc.pre(!refusals(model).some((line) => line.startsWith('object_duplicate')));
      expect(contentOf(outcome.next)).toEqual(contentOf(planned(model).next));
      expect([...held]).toEqual(
        expect.arrayContaining(stated.filter((_, at) => flags[at]).map(({ position }) => position.file)),
      );
    }),
    { numRuns: runs },
  );
}

/**
 * Returns the declarations of the source with names instead of new ids, because ids of new objects depend on the number
 * of earlier objects.
 */
function contentOf(state: Snapshot): readonly string[] {
  const named = (text: string) => text.replace(/new-[\w-]+/g, (id) => state.get(id)?.key ?? id);
  return state
    .declaredBy('s')
    .map(({ kind, key, name, declared }) => `${kind} ${key} ${name} ${named(JSON.stringify(declared))}`)
    .sort();
}
