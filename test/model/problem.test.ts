import { describe, expect, it } from 'vitest';
import { Conflict, InvalidInput, NotAllowed } from '../../src/model/errors.ts';
import {
  joinMessages,
  limitProblems,
  limitWarnings,
  maxProblems,
  type Problem,
  sortProblems,
  takeFaults,
} from '../../src/model/problem.ts';
import { errorForProblems } from '../../src/objects/objects.ts';

const problems = (count: number, code: Problem['code'] = 'type_wrong'): readonly Problem[] =>
  Array.from({ length: count }, (_, at) => ({ code, message: `wrong ${at}`, file: 'a.yaml', line: count - at }));
const wrong = { code: 'type_wrong', message: 'wrong type', file: 'z.yaml' } as const;
const note = { code: 'problems_truncated', message: 'there are more problems than these 1000; correct these first' };

describe('a list of problems', () => {
  it('is complete up to the limit', () => {
    expect(limitProblems(problems(maxProblems))).toEqual(sortProblems(problems(maxProblems)));
  });

  it('is cut to the first ones by position, with a note at the end', () => {
    const limited = limitProblems(problems(maxProblems + 1));
    expect([limited.length, limited[0]?.line, limited.at(-2)?.line]).toEqual([maxProblems + 1, 1, maxProblems]);
    expect(limited.at(-1)).toEqual(note);
  });

  it('keeps the first problem of each code when it is cut', () => {
    const rare = (['value_taken', 'not_allowed'] as const).flatMap((code) =>
      [9001, 9000].map((line) => ({ code, message: 'rare', file: 'z.yaml', line })),
    );
    const limited = limitProblems([...rare, ...problems(5000)]);
    expect(limited).toHaveLength(maxProblems + 1);
    expect(limited.slice(-4).map(({ code, line }) => [code, line])).toEqual([
      ['type_wrong', maxProblems - 2],
      ['not_allowed', 9000],
      ['value_taken', 9000],
      ['problems_truncated', undefined],
    ]);
    expect(limitProblems(limited)).toEqual(limited);
  });

  it('stays the same when it is sorted or limited again', () => {
    const limited = limitProblems(problems(5000));
    expect(sortProblems(limited)).toEqual(limited);
    expect(limitProblems(limited)).toEqual(limited);
  });

  it('has complete keys when it is sorted, and shortened keys when it is limited for an answer', () => {
    const ofKey = (key: string): Problem => ({ code: 'in_use', message: 'in use', kind: 'Group', key });
    const keys = ['a', 'b'].map((end) => `${'g'.repeat(254)}${end}`);
    expect(sortProblems(keys.map(ofKey)).map(({ key }) => key)).toEqual(keys);
    const short = `${'g'.repeat(200)}… (255 characters)`;
    for (const limit of [limitProblems, limitWarnings])
      expect(limit(keys.map(ofKey)).map(({ key }) => key)).toEqual([short, short]);
  });

  it('has one message that names the number of the others', () => {
    expect(joinMessages(problems(3))).toBe('wrong 0; wrong 1; wrong 2');
    expect(joinMessages(problems(21))).toMatch(/wrong 19 \(and 1 more problem\)$/);
    expect(joinMessages(problems(1000))).toMatch(/wrong 19 \(and 980 more problems\)$/);
  });

  it('takes at least one fault of each object, however many there are already', () => {
    const faults = problems(5000);
    expect([0, 400, 1000, 90_000].map((found) => takeFaults(faults, found).length)).toEqual([1001, 601, 1, 1]);
    expect(takeFaults([], 90_000)).toEqual([]);
  });

  it('takes at least one fault of each code of each object, because codes decide about the result', () => {
    const faults = [...problems(3, 'reference_unknown'), ...problems(2, 'unit_conflict')];
    const codes = (found: number) => takeFaults(faults, found).map(({ code }) => code);
    expect(codes(maxProblems)).toEqual(['reference_unknown', 'unit_conflict']);
    expect(codes(maxProblems - 2)).toEqual(['reference_unknown', 'reference_unknown', 'unit_conflict']);
    expect(codes(0)).toHaveLength(5);
  });
});

describe('a list of warnings', () => {
  const others = [...problems(1, 'in_use'), ...problems(1, 'source_foreign')].map((one) => ({
    ...one,
    file: 'z.yaml',
  }));
  const more = { code: 'problems_truncated', message: 'there are more warnings than these 1000' };

  it('is complete up to the limit', () => {
    expect(limitWarnings(problems(maxProblems))).toEqual(sortProblems(problems(maxProblems)));
  });

  it('is cut to the first ones by position and one of each code, with a note at the end', () => {
    const limited = limitWarnings([...others, ...problems(5000)]);
    expect(limited.slice(0, maxProblems - 2)).toEqual(sortProblems(problems(5000)).slice(0, maxProblems - 2));
    expect(limited.slice(maxProblems - 2)).toEqual([...others, more]);
    expect(limitWarnings(limited)).toEqual(limited);
  });

  it('keeps at least one warning of each code of each object, however many there are already', () => {
    const found = [...problems(5000), ...others];
    expect([0, 400, 90_000].map((count) => takeFaults(found, count).length)).toEqual([1001, 601, 3]);
    expect(takeFaults(found, 90_000).map(({ code }) => code)).toEqual(['type_wrong', 'in_use', 'source_foreign']);
  });
});

describe('an error for very many problems', () => {
  it.each([
    ['an invalid input', problems(5000), InvalidInput],
    ['a conflict', problems(5000, 'value_taken'), Conflict],
    ['an invalid input', [...problems(5000, 'value_taken'), { ...wrong, line: 9000 }], InvalidInput],
    ['a missing permission', [...problems(5000), ...problems(1, 'not_allowed')], NotAllowed],
  ])('is the error for %s, and lists the first of them', (_, all, type) => {
    const error = errorForProblems(all);
    expect(error).toBeInstanceOf(type);
    expect(error.problems).toHaveLength(maxProblems + 1);
    expect(error.message).toMatch(/^wrong \d+ \(and more than 999 more problems\)$/);
  });
});
