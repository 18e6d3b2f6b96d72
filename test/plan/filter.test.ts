import { describe, expect, it } from 'vitest';
import { isSelected, parseSelector } from '../../src/plan/documents/filter.ts';
import { growthOf, linear } from '../setup/growth.ts';
import { document } from './steps.ts';

const labelled = (labels: Readonly<Record<string, string>>) => document('Group', 'g', {}, { labels });

/** Whether the selector selects documents with these labels. */
function selects(selector: string, labels: Readonly<Record<string, string>>): boolean {
  const terms = parseSelector(selector);
  if ('fault' in terms) throw new Error(`cannot read ${terms.fault}`);
  return isSelected({ labels: terms }, labelled(labels));
}

describe('label selectors', () => {
  it.each([
    ['team=data', { team: 'data' }, { team: 'web' }],
    ['team==data', { team: 'data' }, {}],
    ['team!=data', { team: 'web' }, { team: 'data' }],
    ['team!=data', {}, { team: 'data' }],
    ['team', { team: '' }, { tier: 'x' }],
    ['!team', { tier: 'x' }, { team: 'data' }],
    ['team in (data, web)', { team: 'web' }, { team: 'ops' }],
    ['team notin (data,web)', { team: 'ops' }, { team: 'web' }],
    ['team in (data, web), tier=1', { team: 'web', tier: '1' }, { team: 'web', tier: '2' }],
    ['example.com/team = data', { 'example.com/team': 'data' }, { team: 'data' }],
  ])('with %s match %o and not %o', (selector, fitting, other) => {
    expect([selects(selector, fitting), selects(selector, other)]).toEqual([true, false]);
  });

  it.each(['', 'team=', 'a,,b', 'team in data', 'team in ()', 'te am', '=x', 'team=a=b', '!!team'])(
    'read `%s` exactly or refuse it',
    (selector) => {
      const terms = parseSelector(selector);
      // An empty value is valid.
      if (selector === 'team=') expect(terms).toEqual([{ label: 'team', is: 'in', values: [''] }]);
      else expect(terms).toHaveProperty('fault');
    },
  );

  it('keep commas inside parentheses together', () => {
    expect(parseSelector('a in (b, c), d, e notin (f,g)')).toHaveLength(3);
    for (const broken of ['a in (b, c', 'a in b, c)', 'a in ((b), c)', ')', '('])
      expect(parseSelector(broken)).toHaveProperty('fault');
  });

  it('are limited in length, and parsed in time linear to it', () => {
    const longest = 4096;
    expect(parseSelector('a'.repeat(longest))).toHaveLength(1);
    const fault = parseSelector(`${'a'.repeat(longest)}b`);
    expect('fault' in fault && fault.fault.length).toBe(41);
    for (const piece of [',', '(', ',(', 'a,', 'a ', 'a in (', '!'])
      expect(growthOf((size) => parseSelector(piece.repeat(size / piece.length)), longest / 30)).toBeLessThan(linear);
  });

  it('select everything when there is no condition, and distinguish kinds', () => {
    expect(isSelected({}, labelled({}))).toBe(true);
    expect(isSelected({ kinds: ['Policy'] }, labelled({}))).toBe(false);
    expect(isSelected({ kinds: ['Policy', 'Group'] }, labelled({}))).toBe(true);
  });
});
