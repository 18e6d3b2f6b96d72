import { expect, it } from 'vitest';
import { etagInSteps } from '../../src/api/answers/answers.ts';
import { createLongLists } from '../../src/api/answers/long-lists.ts';
import { compileCommit } from '../../src/db/commit/commit.ts';
import type { RevisionInput } from '../../src/db/commit/history.ts';
import { readFile } from '../../src/documents/read.ts';
import { writeDocumentsInSteps } from '../../src/documents/write.ts';
import { exportDocuments, exportDocumentsInSteps } from '../../src/features/config/archive/export.ts';
import { jsonInSteps, runToEnd } from '../../src/lib/steps.ts';
import type { Document } from '../../src/model/document.ts';
import { maxProblems } from '../../src/model/problem.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { expandDocuments } from '../../src/plan/documents/desired.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { auditEvents, auditEventsInSteps, driftEventsInSteps } from '../../src/plan/view/events.ts';
import { patchesInSteps } from '../../src/plan/view/patch.ts';
import { viewInSteps } from '../../src/plan/view/view.ts';
import { registry } from '../kinds/objects.ts';
import { generateFiles } from '../setup/generate.ts';
import { countSteps, leastShare } from '../setup/longest-step.ts';
import { allow, applyOn, document, now, office, planned, planningOn } from './steps.ts';

const documentsOf = (variant: string): readonly Document[] =>
  generateFiles(1500, { variant }).flatMap((file) => readFile(file).documents);

const first = documentsOf('');
const stored = applyOn(office, 'a', first);

it.each<[string, () => Generator<undefined, PlanOutcome>]>([
  ['makes all of them', () => planningOn(office, 'a', first)],
  ['changes all of them', () => planningOn(stored, 'a', documentsOf('other'))],
  ['changes none of them', () => planningOn(stored, 'a', first)],
  ['deletes nearly all of them', () => planningOn(stored, 'a', first.slice(0, 10))],
])('a plan of thousands of documents that %s yields to other work throughout', (_, begin) => {
  const { share, result } = leastShare(begin, 0.2);
  expect([result.ok, share]).toEqual([true, expect.any(Number)]);
  expect(share).toBeLessThan(0.2);
});

const anonymous = Array.from({ length: 26_000 }, (_, at) => `nobody-${at}`);

it.each([
  ['waits for', true, document('Group', 'large', { peers: anonymous })],
  ['is refused for', false, allow('large', anonymous.slice(0, 10_000), ['p1'])],
])('a document that %s ten thousand references and more yields to other work while it is resolved', (...of) => {
  const [, isPlanned, large] = of;
  const { result, share } = leastShare(() => planningOn(office, 'a', [large]), 0.35);
  const reported = result.ok ? result.plan.warnings : result.problems;
  expect([result.ok, reported.length]).toEqual([isPlanned, maxProblems + 1]);
  expect(share).toBeLessThan(0.35);
});

it('a document with thousands of inline children yields to other work while they are read', () => {
  const record = { type: 'A', content: '10.0.0.1' };
  const records = Array.from({ length: 3000 }, (_, at) => ({ name: `r${at}.lan.example.com`, ...record }));
  const zone = document('DNSZone', 'lan', { domain: 'lan.example.com', distribution_groups: ['All'], records });
  const steps = countSteps(expandDocuments(registry, createValidator(registry), [zone]));
  expect(steps).toBeGreaterThanOrEqual(Math.floor(3000 / 32));
});

it('a plan of many deletions of hidden files yields to other work while patterns are matched', () => {
  const named = (at: number) =>
    document('Group', `g${at}`, {}, { file: `config/${'a'.repeat(300)}/${at}.yaml`, line: 1 });
  const many = Array.from({ length: 1200 }, (_, at) => named(at));
  const state = applyOn(office, 'a', many);
  const patterns = [...Array.from({ length: 300 }, (_, at) => `*b${at}*aa*ac`), 'a*/'];
  const rules = [{ root: './config', type: 'ignore', name: './config/.heddleignore', patterns }] as const;
  const { result, share } = leastShare(() => planningOn(state, 'a', [named(1200)], { rules }), 0.3);
  expect(planned(result).plan.guards).toContainEqual({
    guard: 'hidden',
    message: expect.stringContaining('deletes 1200 objects, because .heddleignore:301 (a*/)'),
  });
  expect(share).toBeLessThan(0.3);
});

it('the view of a plan of thousands of documents yields to other work', () => {
  const { plan, next } = planned(runToEnd(planningOn(office, 'a', first)));
  expect(leastShare(() => viewInSteps(plan, office, next), 0.5).share).toBeLessThan(0.5);
});

const made = planned(runToEnd(planningOn(office, 'a', first)));
const actor = { type: 'user', id: 'u1', name: 'Ana' } as const;

function revisionOf({ plan, next }: typeof made, before: Snapshot): RevisionInput {
  const events = auditEvents(plan, before, next);
  return { revision: next.revision, plan, actor, requestId: 'r', at: now, events };
}

it.each<[string, Snapshot, typeof made]>([
  ['makes', office, made],
  ['changes', stored, planned(runToEnd(planningOn(stored, 'a', documentsOf('other'))))],
  ['deletes', stored, planned(runToEnd(planningOn(stored, 'a', first.slice(0, 10))))],
])('building the commit statement that %s thousands of objects yields to other work', (_, base, plan) => {
  const input = { base, next: plan.next, revisions: [revisionOf(plan, base)] };
  const { share, result } = leastShare(() => compileCommit(input), 0.4);
  expect(result.rows).toBeGreaterThan(1000);
  expect(share).toBeLessThan(0.4);
});

const view = runToEnd(viewInSteps(made.plan, office, made.next));

it.each<[string, () => Generator<undefined, unknown>]>([
  ['events of an audit', () => auditEventsInSteps(made.plan, office, made.next)],
  ['events of drift', () => driftEventsInSteps(made.plan, office, made.next, now)],
  ['a plan as JSON', () => jsonInSteps(view)],
  ['a plan as patches', () => patchesInSteps(office.registry, made.plan)],
  ['an export', () => exportDocumentsInSteps(stored, {})],
  ['an export as JSON', () => jsonInSteps(exportDocuments(stored))],
  ['an export as YAML', () => writeDocumentsInSteps(exportDocuments(stored))],
  ['a list', () => createLongLists().answer(stored, 'Policy')],
  ['the hash of an answer', () => etagInSteps(1, JSON.stringify(view).repeat(10))],
])('%s of thousands of objects is produced in more than 25 steps', (_, begin) => {
  expect(countSteps(begin())).toBeGreaterThan(25);
});
