import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Fault } from '../../src/model/declare/kind.ts';
import { maxProblems } from '../../src/model/problem.ts';
import { locateFault } from '../../src/plan/documents/locate-fault.ts';
import { registry } from '../kinds/objects.ts';
import { applyOn, document, office, planHolding, planned, planOn, problemsOf } from './steps.ts';

const repeat = <Value>(value: Value, count: number): readonly Value[] => Array(count).fill(value);
const group = (name: string, peers: readonly number[]) => document('Group', name, { peers }, { file: `${name}.yaml` });

describe('documents with very many faults', () => {
  it.each([
    ['in rules', document('Policy', 'p', { rules: repeat({}, 900) })],
    ['in references', group('g', repeat(1, 50_000))],
    ['in processes', document('PostureCheck', 'c', { checks: { process_check: { processes: repeat({}, 1000) } } })],
  ])('are refused with little more than a list of problems, %s', (_, one) => {
    const { length } = problemsOf(planOn(office, 'a', [one]));
    expect(length).toBeGreaterThan(900);
    expect(length).toBeLessThanOrEqual(maxProblems + 1);
  });

  it('are all known as faulty, although only the first ones are described completely', () => {
    const many = Array.from({ length: 300 }, (_, at) => group(`g${at}`, repeat(1, 500)));
    const problems = problemsOf(planOn(office, 'a', many));
    expect(new Set(problems.map(({ key }) => key)).size).toBe(300);
    expect(problems.length).toBeLessThan(maxProblems + 1 + 500 + 300);
  });

  it('are all held back by a source that applies the others', () => {
    const many = Array.from({ length: 300 }, (_, at) => group(`g${at}`, repeat(1, 500)));
    const outcome = planHolding(office, 'a', [...many, document('Group', 'ok')]);
    expect(outcome.ok && outcome.plan.heldBack?.length).toBe(300);
    expect(outcome.ok && outcome.plan.counts.create).toBe(1);
  });
});

describe('a document with faults of several kinds, after documents with very many faults', () => {
  // Too long a text is found before the wrong type of the list.
  const mixed = document('Policy', 'x'.repeat(300), { name: 'x'.repeat(300), rules: 5 }, { file: 'b.yaml' });
  const wrong = (count: number) => group('a', repeat(1, count));

  it.each([998, 999, 1000, 1001, 3000])('is refused with a problem after %d faults', (count) => {
    const files = problemsOf(planOn(office, 'a', [wrong(count), mixed])).map(({ file }) => file);
    expect(files.filter((file) => file === 'a.yaml')).toHaveLength(Math.min(count, maxProblems + 1));
    expect(files).toContain('b.yaml');
  });

  it('is held back by a source that applies the others', () => {
    const outcome = planHolding(office, 'a', [wrong(3000), mixed, document('Group', 'ok')]);
    expect(outcome.ok && outcome.plan.heldBack?.map(({ file }) => file)).toEqual(['a.yaml', 'b.yaml']);
    expect(outcome.ok && outcome.plan.counts.create).toBe(1);
  });
});

describe('documents with very many warnings', () => {
  it('keep every code of every object, because the codes decide what becomes of the object', () => {
    const first = applyOn(office, 'b', [document('Group', 'devs')]);
    const renamed = applyOn(first, 'b', [document('Group', 'developers', {}, { previousNames: ['devs'] })]);
    const rule = { name: 'r', action: 'accept', protocol: 'all', destinations: ['All'] };
    const laptop = { ...rule, name: 'l', sourceResource: { id: 'laptop', type: 'peer' } };
    const policy = document('Policy', 'p', { name: 'p', rules: [{ ...rule, sources: ['devs'] }, laptop] });
    const many = Array.from({ length: maxProblems + 10 }, (_, at) =>
      document('Group', `g${at}`, { peers: ['tablet'] }),
    );
    const { warnings } = planned(planOn(renamed, 'a', [...many, policy])).plan;
    expect(
      warnings
        .filter(({ kind }) => kind === 'Policy')
        .map(({ code }) => code)
        .sort(),
    ).toEqual(['reference_pending', 'reference_renamed']);
    expect(warnings).toHaveLength(maxProblems + 10 + 2);
  });
});

describe('a fault of a canonical spec', () => {
  const { spec: fields } = registry.get('PostureCheck');
  const check = (processes: readonly JsonObject[]): JsonObject => ({ checks: { process_check: { processes } } });
  const fault = (at: number): Fault => ({
    code: 'process_without_path',
    message: 'no path',
    path: `/checks/process_check/processes/${at}`,
  });
  const program = (at: number) => ({ linux_path: `/bin/${at}` });

  it('is located at the first item of the input that has its value', () => {
    const stored = check([program(1), program(2), program(3)]);
    const stated = check([program(3), program(2), program(3)]);
    expect(locateFault(fields, stored, stated, fault(2)).path).toBe('/checks/process_check/processes/0');
    expect(locateFault(fields, stored, stated, fault(0)).path).toBe('/checks/process_check/processes/0');
    expect(locateFault(fields, stored, stated, fault(1)).path).toBe('/checks/process_check/processes/1');
  });

  it('is located without reading the list of the input again for each fault', () => {
    const count = 500;
    let reads = 0;
    const items = Array.from({ length: count }, (_, at) => program(count - 1 - at));
    const counted = new Proxy(items, {
      get(target, name, receiver) {
        reads += typeof name === 'string' && /^\d+$/.test(name) ? 1 : 0;
        return Reflect.get(target, name, receiver);
      },
    });
    const [stored, stated] = [check([...items].reverse()), check(counted)];
    const paths = items.map((_, at) => locateFault(fields, stored, stated, fault(at)).path);
    expect(paths).toEqual(items.map((_, at) => fault(count - 1 - at).path));
    expect(reads).toBeLessThanOrEqual(3 * count);
  });
});
