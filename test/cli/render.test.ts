import { describe, expect, test } from 'vitest';
import { approvalHint, renderPlan, summaryOf } from '../../src/cli/render/plan.ts';
import { paint } from '../../src/cli/terminal/paint.ts';
import type { ChangeView, PlanView, UnitView } from '../../src/operations/config/plan.ts';

const empty: PlanView = {
  formatVersion: '1.0',
  digest: 'd1',
  baseRevision: 1,
  counts: { create: 0, update: 0, delete: 0, claims: 0 },
  changes: [],
  claims: [],
  guards: [],
  warnings: [],
};

function render(plan: Partial<PlanView>): string {
  return renderPlan({ ...empty, ...plan }, paint(false));
}

function update(...units: readonly UnitView[]): ChangeView {
  return { action: 'update', kind: 'Policy', key: 'p', name: 'P', id: 'i1', units, risks: [] };
}

function linesOf(change: ChangeView): readonly string[] {
  return (
    render({ changes: [change] })
      .split('\n\n')[0]
      ?.split('\n')
      .slice(1)
      .map((line) => line.slice(4)) ?? []
  );
}

describe('a rendered plan', () => {
  test('prints a diff with file positions, risks, resets to defaults and a summary', () => {
    const changes: readonly ChangeView[] = [
      {
        ...{
          action: 'create',
          kind: 'Group',
          key: 'devs',
          name: 'Developers',
          file: 'groups.yaml',
          line: 3,
          risks: [],
        },
        units: [
          { path: 'name', after: 'Developers' },
          { path: 'peers[ana]', after: ['source'] },
          { path: 'peers[bo]', after: ['source'] },
        ],
      },
      {
        ...{
          action: 'update',
          kind: 'Policy',
          key: 'devs-to-db',
          name: 'x',
          id: 'i2',
          file: 'policies.yaml',
          line: 12,
        },
        units: [
          { path: 'description', before: 'old', after: '', reset: true },
          { path: 'enabled', before: false, after: true },
          {
            path: 'rules[pg]',
            before: { name: 'pg', ports: ['5432'], ttl: 1 },
            after: { name: 'pg', ports: ['5432', '6432'] },
          },
          { path: 'rules[ssh]', after: { name: 'ssh', ports: [], sources: ['devs'] } },
          { path: 'rules[old]', before: { name: 'old', ports: ['22'], sources: [] } },
        ],
        risks: ['the policy x was disabled and becomes enabled'],
      },
      { action: 'delete', kind: 'Route', key: 'a', name: 'a', id: 'i3', units: [], risks: [] },
      {
        ...{ action: 'delete', kind: 'Group', key: 'b', name: 'b', id: 'i4', file: 'old.yaml', line: 7, risks: [] },
        units: [
          { path: 'name', before: 'b' },
          { path: 'peers[ana]', before: true },
          { path: 'peers[bo]', before: true },
        ],
      },
    ];
    expect(
      render({ changes, counts: { create: 1, update: 1, delete: 2, claims: 0 } }),
    ).toBe(`+ Group devs  (groups.yaml:3)
    name: "Developers"
    peers: ana, bo

~ Policy devs-to-db  (policies.yaml:12)
    ~ description: "old" → "" (back to its default)
    ~ enabled: false → true
    ~ rules[pg].ports: ["5432"] → ["5432", "6432"]
    - rules[pg].ttl: 1
    + rules[ssh]
        name: "ssh"
        sources: ["devs"]
    - rules[old]
        name: "old"
        ports: ["22"]
    risk: the policy x was disabled and becomes enabled

- Route a

- Group b  (old.yaml:7)
    name: "b"
    peers: ana, bo

Plan: 1 to create, 1 to change, 2 to delete.
`);
  });

  test('marks set elements as added or removed', () => {
    const change = update({ path: 'groups[new]', after: true }, { path: 'groups[old]', before: true });
    expect(linesOf(change)).toEqual(['+ groups[new]', '- groups[old]']);
  });

  test('prints long old and new values on separate lines', () => {
    const [before, after] = ['a'.repeat(60), 'b'.repeat(60)];
    expect(linesOf(update({ path: 'description', before, after }))).toEqual([
      '~ description:',
      `    - "${before}"`,
      `    + "${after}"`,
    ]);
  });

  test('marks a newly set value with + and an unset value with -', () => {
    const change = update({ path: 'network', after: '10.0.0.0/8' }, { path: 'domain', before: 'a.example' });
    expect(linesOf(change)).toEqual(['+ network: "10.0.0.0/8"', '- domain: "a.example"']);
  });

  test('states that no field changes where an object without changed fields is listed', () => {
    expect(linesOf(update())).toEqual(['none of its fields changes']);
  });

  test('escapes control characters and bidirectional overrides', () => {
    const change = { ...update({ path: 'name', before: 'a', after: '\u001b[2J\u202e' }), key: 'k\u001b[1m\nb' };
    const text = render({ changes: [change] });
    expect(text).toContain('~ Policy k\\u001b[1m\\u000ab');
    expect(text).toContain('"\\u001b[2J\\u202e"');
  });

  test('lists tripped guards with the command that approves the plan', () => {
    const guards = [{ guard: 'empty', message: 'cli states nothing any more' }] as const;
    expect(render({ guards })).toContain('This plan needs an approval:\n  ! cli states nothing any more\n');
    const hint = approvalHint({ ...empty, guards }, 'heddle apply x');
    expect(hint).toBe(
      'To apply exactly this plan nevertheless, run\n  heddle apply x --approve d1\n' +
        'If you removed the documents on purpose, you can also use --allow-empty.\n',
    );
  });

  test('prints warnings with file and line', () => {
    const warnings: PlanView['warnings'] = [
      { code: 'in_use', message: 'is kept', kind: 'Group', key: 'g', file: 'a.yaml', line: 3 },
    ];
    expect(render({ warnings })).toContain('warning: a.yaml:3: is kept (in_use)\n    Group g\n');
  });

  test('is coloured only when colour is enabled', () => {
    const change = update({ path: 'enabled', before: false, after: true });
    expect(render({ changes: [change] })).not.toContain('\u001b');
    expect(renderPlan({ ...empty, changes: [change] }, paint(true))).toContain('\u001b[33m~ Policy p\u001b[39m');
  });
});

describe('the summary of a plan', () => {
  const claim = { kind: 'Group', key: 'g', name: 'G', id: 'i' };

  test('states that there are no changes', () => {
    expect(summaryOf(empty)).toBe('No changes. The account matches the documents.');
  });

  test('reports taken ownership as no change', () => {
    const claims = [
      { ...claim, action: 'claim' },
      { ...claim, action: 'claim' },
    ] as const;
    expect(summaryOf({ ...empty, claims })).toBe('No changes; takes ownership of 2 objects.');
  });

  test('reports claims and releases separately from changes', () => {
    const claims = [
      { ...claim, action: 'claim' },
      { ...claim, action: 'release' },
      { ...claim, action: 'restate' },
    ] as const;
    expect(render({ claims, counts: { create: 1, update: 0, delete: 0, claims: 3 } })).toBe(
      [
        'Plan: 1 to create, 0 to change, 0 to delete.',
        'Takes ownership of 1 object without changing it.',
        'Gives up ownership of 1 object without changing it.',
        'Records new declarations about 1 object without changing it.',
        '',
      ].join('\n'),
    );
  });
});
