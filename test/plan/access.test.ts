import { describe, expect, it } from 'vitest';
import type { AccessRow } from '../../src/operations/config/plan-access.ts';
import { accessLine, firstRows } from '../../src/plan/view/access.ts';

const row = (change: AccessRow['change'], at: number, more: Partial<AccessRow> = {}): AccessRow => ({
  ...{ change, traffic: 'tcp/80', pairs: 4, conditional: 0 },
  from: { kind: 'Group', name: `from ${at}` },
  to: { kind: 'Group', name: 'to' },
  ...more,
});

describe('the rows of gained and lost access', () => {
  it.each<[Partial<AccessRow>, string]>([
    [{}, ''],
    [{ conditional: 4 }, ', all depending on posture checks'],
    [{ conditional: 1 }, ', 1 depending on posture checks'],
    [{ partly: true }, ', in part depending on posture checks'],
    [{ conditional: 1, partly: true }, ', 1 and others in part depending on posture checks'],
  ])('state what depends on posture checks: %j', (more, text) => {
    expect(accessLine(row('gained', 1, more))).toBe(`+ from 1 → to: tcp/80 (4 pairs${text})`);
  });

  it.each([
    [3, 3, 10, '3 3'],
    [30, 0, 10, '10 0'],
    [30, 2, 10, '8 2'],
    [30, 30, 10, '5 5'],
    [2, 30, 10, '2 8'],
    [30, 30, 5, '3 2'],
  ])('for %i gains and %i losses, limited to %i, show %s', (gains, losses, most, shown) => {
    const rows = [
      ...Array.from({ length: gains }, (_, at) => row('gained', at)),
      ...Array.from({ length: losses }, (_, at) => row('lost', at)),
    ];
    const first = firstRows(rows, most);
    const count = (change: string) => first.filter((one) => one.change === change).length;
    expect([`${count('gained')} ${count('lost')}`, first]).toEqual([shown, [...first].sort(byChange)]);
  });
});

const byChange = (a: AccessRow, b: AccessRow) => (a.change < b.change ? -1 : a.change > b.change ? 1 : 0);
