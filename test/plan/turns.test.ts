import { expect, it } from 'vitest';
import { readFile } from '../../src/documents/read.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { Document } from '../../src/model/document.ts';
import type { Outcome } from '../../src/plan/plan.ts';
import { viewInSteps } from '../../src/plan/view.ts';
import { generateFiles } from '../setup/generate.ts';
import { applyOn, document, office, planned, planningOn } from './steps.ts';

const documentsOf = (variant: string): readonly Document[] =>
  generateFiles(1500, { variant }).flatMap((file) => readFile(file).documents);

/** The longest step of some work, as a share of all of it. */
function longestShare<Result>(work: Generator<undefined, Result>): { readonly share: number; readonly result: Result } {
  let [longest, total] = [0, 0];
  for (;;) {
    const start = process.threadCpuUsage();
    const step = work.next();
    const { user, system } = process.threadCpuUsage(start);
    longest = Math.max(longest, user + system);
    total += user + system;
    if (step.done === true) return { share: longest / total, result: step.value };
  }
}

/** The least of some tries: a collection of garbage falls into one step or another. */
function leastShare<Result>(begin: () => Generator<undefined, Result>) {
  const tries = [1, 2, 3].map(() => longestShare(begin()));
  return tries.reduce((least, other) => (other.share < least.share ? other : least));
}

const first = documentsOf('');
const stored = applyOn(office, 'a', first);

it.each<[string, () => Generator<undefined, Outcome>]>([
  ['makes all of them', () => planningOn(office, 'a', first)],
  ['changes all of them', () => planningOn(stored, 'a', documentsOf('other'))],
  ['changes none of them', () => planningOn(stored, 'a', first)],
  ['deletes nearly all of them', () => planningOn(stored, 'a', first.slice(0, 10))],
])('a plan of thousands of documents that %s lets others in between all the time', (_, begin) => {
  const { share, result } = leastShare(begin);
  expect([result.ok, share]).toEqual([true, expect.any(Number)]);
  expect(share).toBeLessThan(0.2);
});

it('a plan of many deletions whose files patterns hide lets others in between while these are matched', () => {
  const named = (at: number) =>
    document('Group', `g${at}`, {}, { file: `config/${'a'.repeat(300)}/${at}.yaml`, line: 1 });
  const many = Array.from({ length: 300 }, (_, at) => named(at));
  const state = applyOn(office, 'a', many);
  const patterns = [...Array.from({ length: 300 }, (_, at) => `*b${at}*aa*ac`), 'a*/'];
  const rules = [{ root: './config', type: 'ignore', name: './config/.heddleignore', patterns }] as const;
  const { result, share } = leastShare(() => planningOn(state, 'a', [named(300)], { rules }));
  expect(planned(result).plan.guards).toContainEqual({
    guard: 'hidden',
    message: expect.stringContaining('deletes 300 objects, because .heddleignore:301 (a*/)'),
  });
  expect(share).toBeLessThan(0.2);
});

it('to show a plan of thousands of documents lets others in between too', () => {
  const { plan, next } = planned(runToEnd(planningOn(office, 'a', first)));
  expect(leastShare(() => viewInSteps(plan, office, next)).share).toBeLessThan(0.5);
});
