import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/model/problem.ts';
import { commentOnPlan, commentOnProblems, renderGithub, renderGitlab } from '../../src/plan/view/review-comments.ts';
import { change, view } from './views.ts';

const plan = view({
  changes: [
    change('create', 'Group', 'devs', [{ path: 'name', after: 'Devs' }], { file: 'groups.yaml', line: 3 }),
    change('update', 'Policy', 'web', [{ path: 'enabled', before: false, after: true }], {
      file: 'p,1.yaml',
      line: 9,
      risks: ['becomes enabled'],
    }),
    change('delete', 'Group', 'old', [], { usedBy: ['Policy web'] }),
  ],
  guards: [{ guard: 'deletes', message: 'deletes 9 of 10: 50%' }],
  warnings: [{ code: 'reference_pending', message: 'peer ana is not there yet', kind: 'Group', key: 'devs' }],
});

describe('review comments on documents', () => {
  it('are written as workflow commands for GitHub, with file and line', () => {
    expect(renderGithub(commentOnPlan(plan)).split('\n')).toEqual([
      '::error title=the plan needs an approval::deletes 9 of 10: 50%25',
      '::warning file=p%2C1.yaml,line=9,title=Policy web::becomes enabled',
      '::warning title=Group devs::peer ana is not there yet',
      '::notice file=groups.yaml,line=3,title=Group devs::Group devs would be created',
      '::notice file=p%2C1.yaml,line=9,title=Policy web::Policy web would be changed: enabled',
      '::notice title=Group old::Group old would be deleted, which is used by Policy web',
      '',
    ]);
  });

  it('keep the column of a problem, and escape text that would end a command', () => {
    const problems: readonly Problem[] = [
      { code: 'yaml_invalid', message: 'first\r\n::error::second', file: 'a.yaml', line: 2, column: 7 },
      { code: 'field_unknown', message: 'nam is unknown', kind: 'Group', key: 'x:y' },
    ];
    expect(renderGithub(commentOnProblems(problems))).toBe(
      '::error file=a.yaml,line=2,col=7,title=yaml_invalid::first%0D%0A::error::second\n' +
        '::error title=Group x%3Ay::nam is unknown\n',
    );
  });

  it('are written as a code quality report for GitLab', () => {
    const issues = JSON.parse(renderGitlab(commentOnPlan(plan)));
    expect(issues).toHaveLength(6);
    expect(issues[1]).toEqual({
      description: 'Policy web: becomes enabled',
      check_name: 'change_risk',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      severity: 'minor',
      location: { path: 'p,1.yaml', lines: { begin: 9 } },
    });
    expect(issues[0]).toMatchObject({ severity: 'major', location: { path: '.', lines: { begin: 1 } } });
  });

  it('list gained and lost access, up to 20 entries each', () => {
    const end = (name: string) => ({ kind: 'Group', name });
    const row = (change: 'gained' | 'lost', from: string) => {
      return { change, from: end(from), to: end('db'), traffic: 'tcp/1', pairs: 1, conditional: 0 };
    };
    const groups = [...Array.from({ length: 22 }, (_, at) => row('gained', `g${at}`)), row('lost', 'old')];
    const access = {
      ...{ gained: { pairs: 22, conditional: 0 }, lost: { pairs: 1, conditional: 0 } },
      ...{ groups, omitted: 0 },
    };
    const [gained, lost, ...others] = commentOnPlan(view({ access }));
    expect(gained).toMatchObject({ level: 'warning', code: 'access_gained', title: 'access is gained' });
    const lines = gained?.message.split('\n') ?? [];
    expect([lines.length, lines[0], lines[20], lines[21]]).toEqual([
      22,
      'Access is gained between 22 pairs:',
      '+ g19 → db: tcp/1 (1 pair)',
      'and 2 more',
    ]);
    expect(lost?.message).toBe('Access is lost between 1 pair:\n- old → db: tcp/1 (1 pair)');
    const idle = { ...access, gained: access.lost, lost: { pairs: 0, conditional: 0 } };
    expect([others, commentOnPlan(view({ access: idle })).length]).toEqual([[], 1]);
  });

  it('have fingerprints that do not depend on the line and are unique within a report', () => {
    const problem: Problem = { code: 'type_wrong', message: 'wrong', file: 'a.yaml', line: 2 };
    const prints = (...lines: readonly number[]) =>
      JSON.parse(renderGitlab(commentOnProblems(lines.map((line) => ({ ...problem, line }))))).map(
        ({ fingerprint }: { fingerprint: string }) => fingerprint,
      );
    expect(prints(2)).toEqual(prints(5));
    expect(new Set(prints(2, 5)).size).toBe(2);
  });

  it('are an empty report if there is nothing to report', () => {
    expect([renderGithub([]), renderGitlab([])]).toEqual(['', '[]\n']);
  });
});
