import { describe, expect, it } from 'vitest';
import type { PlanView } from '../../src/operations/config/plan.ts';
import { renderMarkdown } from '../../src/plan/view/markdown.ts';
import { change, view } from './views.ts';

const stored: Partial<PlanView> = { id: 'p1', source: 'team', state: 'ready', expiresAt: '2026-03-02T10:00:00.000Z' };

describe('a plan as Markdown', () => {
  it('has a summary line, a table, every change to unfold, and how to apply it', () => {
    const plan = view({
      ...stored,
      changes: [
        change(
          'create',
          'Group',
          'devs',
          [
            { path: 'name', after: 'Developers' },
            { path: 'peers[ana]', after: ['source'] },
          ],
          {
            file: 'groups.yaml',
            line: 3,
          },
        ),
        change('update', 'Policy', 'web', [
          { path: 'description', before: 'old', after: 'new' },
          { path: 'enabled', before: false, after: true, reset: true },
          {
            path: 'rules[main]',
            before: { ports: ['80'], action: 'accept' },
            after: { ports: ['443'], action: 'accept' },
          },
          { path: 'peers[bo]', before: ['source'] },
        ]),
        change('delete', 'Group', 'old'),
        change('update', 'Group', 'moved'),
      ],
    });
    expect(renderMarkdown(plan)).toBe(`### Plan for \`team\`: 1 to create, 2 to change, 1 to delete

| kind | create | change | delete |
| --- | ---: | ---: | ---: |
| Group | 1 | 1 | 1 |
| Policy | 0 | 1 | 0 |

<details><summary>+ Group <code>devs</code> (groups.yaml:3)</summary>

\`\`\`diff
+ name: "Developers"
+ peers[ana]
\`\`\`

</details>

<details><summary>~ Policy <code>web</code></summary>

\`\`\`diff
- description: "old"
+ description: "new"
- enabled: false
+ enabled: true  (back to its default)
- rules[main].ports: ["80"]
+ rules[main].ports: ["443"]
- peers[bo]
\`\`\`

</details>

<details><summary>- Group <code>old</code></summary>

\`\`\`diff
  the whole object
\`\`\`

</details>

<details><summary>~ Group <code>moved</code></summary>

\`\`\`diff
  no field changes
\`\`\`

</details>

---

digest \`d1\` · made at revision 4 · plan \`p1\` · valid until 2026-03-02T10:00:00.000Z.
Apply exactly this with \`heddle apply p1\`.
`);
  });

  it('shows guards, risks and warnings before the changes', () => {
    const text = renderMarkdown(
      view({
        ...stored,
        state: 'needs_approval',
        changes: [change('update', 'Policy', 'web', [], { risks: ['becomes enabled'] })],
        guards: [{ guard: 'deletes', message: 'deletes 9 of 10 owned objects' }],
        warnings: [{ code: 'reference_pending', message: 'peer ana is not there yet', file: 'a.yaml', line: 7 }],
      }),
    );
    expect(text).toContain('> **This plan needs an approval.**\n>\n> - deletes 9 of 10 owned objects\n');
    expect(text).toContain('**Look twice**\n\n- Policy `web`: becomes enabled\n');
    expect(text).toContain('**Warnings**\n\n- `a.yaml:7`: peer ana is not there yet\n');
    expect(text).toContain('Apply exactly this with `heddle apply p1`, after `heddle approve p1`.');
    expect(text.indexOf('Look twice')).toBeLessThan(text.indexOf('<details>'));
  });

  it('shows former names, the users of deleted objects, and what a rollback suspends', () => {
    const text = renderMarkdown(
      view({
        rollback: { revision: 7, scope: 'sources', suspends: ['team', 'ops'] },
        changes: [
          change('update', 'Group', 'devs', [], { renamedFrom: 'developers' }),
          change('delete', 'Group', 'old', [], { usedBy: ['Policy web (source team)', 'Route lan'] }),
        ],
      }),
    );
    expect(text).toContain('### Plan for the rollback to revision 7: 0 to create, 1 to change, 1 to delete\n');
    expect(text).toContain('Suspends `team`, `ops`, so that the restored state is kept.\n');
    expect(text).toContain('```diff\n  renamed from developers\n```');
    expect(text).toContain('```diff\n  used by Policy web (source team), Route lan\n```');
  });

  it.each([
    [view(), '### Plan: no changes\n'],
    [
      view({ claims: [{ action: 'claim', kind: 'Group', key: 'a', name: 'a', id: 'i' }] }),
      '### Plan: no changes; ownership of 1 object changes\n',
    ],
  ])('has a headline without changes and no table when there is nothing to do', (plan, headline) => {
    expect(renderMarkdown(plan)).toContain(headline);
    expect(renderMarkdown(plan)).not.toContain('| kind |');
  });

  it('does not explain how to apply a plan that is already applied', () => {
    expect(renderMarkdown(view({ ...stored, state: 'applied' }))).not.toContain('heddle apply');
  });

  it('stays within its limit, and counts the changes left out', () => {
    const changes = Array.from({ length: 3000 }, (_, at) =>
      change('update', 'Group', `group-${at}`, [{ path: 'name', before: 'a'.repeat(40), after: 'b'.repeat(at % 50) }]),
    );
    const text = renderMarkdown(view({ ...stored, changes }));
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text.length).toBeGreaterThan(55_000);
    const shown = text.split('<details>').length - 1;
    expect(text).toContain(`_and ${3000 - shown} more changes, not shown here_`);
    expect(text.trimEnd().endsWith('`heddle apply p1`.')).toBe(true);
  });

  it('shortens one object that would take all the space', () => {
    const units = Array.from({ length: 500 }, (_, at) => ({ path: `peers[peer-with-a-long-name-${at}]`, after: true }));
    const text = renderMarkdown(
      view({ changes: [change('create', 'Group', 'all', units), change('create', 'Group', 'b')] }),
    );
    expect(text.length).toBeLessThan(10_000);
    expect(text).toMatch(/ {2}and \d+ more lines\n```/);
    expect(text).toContain('<code>b</code>');
  });

  it('escapes markup in names and messages', () => {
    const evil = '`</code></summary>@everyone|**x**\n# head';
    const text = renderMarkdown(
      view({
        source: 'a`b',
        changes: [
          change('update', 'Group', evil, [{ path: 'name', before: '```\n# out', after: '````' }], { risks: [evil] }),
        ],
        warnings: [{ code: 'in_use', message: '@team [a](http://b) <img>' }],
      }),
    );
    expect(text).toContain('Plan for ``a`b``');
    expect(text).toContain('<code>`&lt;/code&gt;&lt;/summary&gt;@everyone|**x** # head</code>');
    expect(text).toContain('`````diff\n');
    expect(text).not.toMatch(/^# /m);
    expect(text).toContain('@\u200bteam \\[a\\](http://b) &lt;img&gt;');
  });
});
