import { describe, expect, it } from 'vitest';
import { renderSource, renderSourceTable } from '../../src/cli/render/sources.ts';
import { paint } from '../../src/cli/terminal/paint.ts';
import { nextStatus, type SourceEvent } from '../../src/model/sources/conditions.ts';
import { initialStatus, type SourceStatus } from '../../src/model/sources/status.ts';

const at = (minute: number) => `2026-01-02T03:0${minute}:00Z`;
const content = { digest: '9f2c1d0e8b7a6f5e4d3c', commit: '4c1f2a6e9d0b4e578a3c0b6f5d2e7a91' };
const applied: SourceEvent = {
  ...content,
  ...{ what: 'applied', message: 'source office: 15 documents, nothing to do', at: 7, revision: 7 },
  inventory: { Group: 2, Policy: 1 },
};

/** Returns the status of a source after these events, which are one minute apart. */
function statusAfter(...events: readonly SourceEvent[]): SourceStatus {
  return events.reduce(
    (status, event, minute) => nextStatus(status, event, { now: at(minute), generation: 1 }),
    initialStatus,
  );
}

function source(...events: readonly SourceEvent[]) {
  return {
    id: 'office',
    type: 'git',
    suspended: false,
    generation: 1,
    url: 'https://git.example.com/mesh.git',
    objects: 3,
    status: statusAfter(...events),
  };
}

function table(...events: readonly SourceEvent[]): string {
  return renderSourceTable([source(...events)], paint(false))
    .slice(1)
    .join('\n');
}

describe('the table of sources', () => {
  it('has one line for a source that is ready, without details', () => {
    expect(table(applied)).toBe('office  git   yes    Applied  3        7         2026-01-02T03:00:00Z');
  });

  it('shows why a source is stalled and since when', () => {
    const refused: SourceEvent = {
      ...{ ...content, what: 'refused', state: 'needs_approval', at: 8, planDigest: 'd1' },
      message: 'source office needs an approval',
    };
    expect(table(applied, refused).split('\n')).toEqual([
      'office  git   no     NeedsApproval  3        7         2026-01-02T03:00:00Z',
      '    Stalled (NeedsApproval) since 2026-01-02T03:01:00Z: source office needs an approval',
    ]);
  });

  it('shows every condition that is true', () => {
    const conflicted: SourceEvent = {
      ...content,
      what: 'refused',
      state: 'conflicted',
      at: 8,
      message: 'others disagree',
    };
    expect(
      table({ ...applied, drifted: 2 }, conflicted, { what: 'suspended' })
        .split('\n')
        .slice(1),
    ).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^ {4}Drifted \(ValuesDiffer\) since 2026-01-02T03:00:00Z: 2 stated values are different/,
        ),
        expect.stringMatching(/^ {4}Conflicted \(Conflicted\) since 2026-01-02T03:01:00Z: others disagree$/),
        expect.stringMatching(/^ {4}Suspended \(Suspended\) since 2026-01-02T03:02:00Z/),
      ]),
    );
  });

  it('shows since when a source is unavailable and retried', () => {
    const lines = table(applied, { what: 'unavailable', message: 'the directory is gone' }).split('\n');
    expect(lines[0]).toMatch(/^office {2}git {3}no {5}SourceUnavailable/);
    expect(lines[1]).toBe('    Not ready (SourceUnavailable) since 2026-01-02T03:01:00Z: the directory is gone');
    expect(lines[2]).toMatch(/^ {4}Reconciling \(SourceUnavailable\) since 2026-01-02T03:01:00Z/);
  });
});

describe('the details of a source', () => {
  it('contain its settings, what it applied, its conditions, attempts and problems', () => {
    const invalid: SourceEvent = {
      ...{ ...content, what: 'refused', state: 'invalid', at: 8, message: 'source office is not applied: 1 problem' },
      problems: [{ code: 'field_unknown', message: 'unknown field `x`', file: 'a.yaml', line: 3, column: 5 }],
    };
    const text = renderSource(source(applied, invalid), paint(false));
    expect(text).toContain('url       https://git.example.com/mesh.git\nobjects   3 (2 Group, 1 Policy)\n');
    expect(text).toContain('applied   commit 4c1f2a6e9d0b as revision 7, 2026-01-02T03:00:00Z\n');
    const row = /^Reconciling +False/m.exec(text)?.[0].length;
    expect(/^Ready +False/m.exec(text)?.[0]).toHaveLength(row ?? 0);
    expect(text).toMatch(/^Ready +False +InvalidDocuments +2026-01-02T03:01:00Z/m);
    expect(text).toMatch(/LATEST ATTEMPTS\n.* invalid /);
    expect(text).toContain('a.yaml:3:5: unknown field `x` (field_unknown)');
  });

  it('escape control characters', () => {
    const text = renderSource({ ...source(applied), path: 'a\u001b[2J\nb' }, paint(false));
    expect(text).toContain('path      a\\u001b[2J\\u000ab\n');
  });
});
