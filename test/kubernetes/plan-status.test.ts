import { describe, expect, test } from 'vitest';
import { planContent, planResourceStatus } from '../../src/features/sources/kubernetes/resources/plan-status.ts';
import type { PlanView } from '../../src/operations/config/plan.ts';

const many = (count: number) => Array.from({ length: count }, (_, at) => at);
const unit = (at: number) => ({ path: `rules[${at}].ports`, before: 'secret-before', after: 'secret-after' });

const view: PlanView = {
  ...{ formatVersion: '1.0', digest: 'f'.repeat(64), baseRevision: 4, claims: [], warnings: [] },
  ...{ createdAt: '2026-03-01T10:00:00.123Z', expiresAt: '2026-03-02T10:00:00.123Z' },
  counts: { create: 1, update: 1, delete: 70, claims: 0 },
  guards: [{ guard: 'deletes', message: 'deletes 70 of 90 owned objects' }],
  changes: [
    { action: 'create', kind: 'Group', key: 'new', name: 'New', units: [unit(0)], risks: [] },
    { action: 'update', kind: 'Policy', key: 'web', name: 'Web', units: many(30).map(unit), risks: [] },
    ...many(70).map((at) => ({ action: 'delete' as const, kind: 'Group', name: `Group ${at}`, units: [], risks: [] })),
  ],
  access: {
    ...{ gained: { pairs: 3, conditional: 0 }, lost: { pairs: 40, conditional: 1 }, omitted: 5 },
    groups: many(30).map((at) => ({
      ...{ change: 'lost' as const, pairs: 1, conditional: 0, traffic: 'tcp/443' },
      ...{ from: { kind: 'Group', key: `g${at}`, name: 'G' }, to: { kind: 'Peer', name: 'db' } },
    })),
  },
};

describe('the status of a Plan resource', () => {
  const content = planContent('p1', 'k8s.a', view);

  test('shows the first 50 changes, the number of the others, and the command that shows all', () => {
    expect(content.changes.length).toBe(50);
    expect(content.more).toBe('… and 22 more changes; `heddle plans p1` shows all');
    expect(content.changes[0]).toEqual({ action: 'create', kind: 'Group', name: 'new' });
    expect(content.changes[2]).toEqual({ action: 'delete', kind: 'Group', name: 'Group 0' });
    expect(content).toMatchObject({ createdAt: '2026-03-01T10:00:00Z', expiresAt: '2026-03-02T10:00:00Z' });
  });

  test('shows which fields change but no values', () => {
    expect(content.changes[1]?.fields).toEqual([...many(9).map((at) => `rules[${at}].ports`), '… and 21 more']);
    expect(JSON.stringify(content)).not.toContain('secret');
  });

  test('summarises access changes and states how many rows are left out', () => {
    expect(content.access).toMatchObject({
      gained: 3,
      lost: 40,
      more: '… and 15 more rows; `heddle plans p1` shows all',
    });
    expect(content.access?.rows.length).toBe(20);
    expect(content.access?.rows[0]).toEqual({
      ...{ change: 'lost', from: 'Group/g0', to: 'Peer/db', traffic: 'tcp/443', pairs: 1 },
    });
  });

  test('has a limited size however long names and messages are', () => {
    const long = 'x'.repeat(10_000);
    const changes = view.changes.map((change) => ({ ...change, name: long, key: long }));
    const whole = planContent('p1', 'k8s.a', { ...view, changes, guards: [{ guard: 'deletes', message: long }] });
    expect(JSON.stringify(whole).length).toBeLessThan(40_000);
  });

  test('keeps the transition time of the Approved condition while its status does not change', () => {
    const at = '2026-03-01T11:00:00.000Z';
    const waits = { status: 'False', reason: 'NeedsApproval', message: 'it waits' } as const;
    const first = planResourceStatus(content, waits, { generation: 1, before: undefined, now: at });
    const differs = { status: 'False', reason: 'DigestDiffers', message: 'another' } as const;
    const second = planResourceStatus(content, differs, {
      generation: 2,
      before: first,
      now: '2026-03-01T12:00:00.000Z',
    });
    expect(second.conditions).toMatchObject([
      { type: 'Approved', status: 'False', reason: 'DigestDiffers', lastTransitionTime: '2026-03-01T11:00:00Z' },
    ]);
    const approved = {
      status: 'True',
      reason: 'Approved',
      message: 'by ana',
      by: 'ana',
      at: '2026-03-01T13:00:00.000Z',
    } as const;
    const third = planResourceStatus(content, approved, {
      generation: 2,
      before: second,
      now: '2026-03-01T13:00:01.000Z',
    });
    expect(third).toMatchObject({
      approvedBy: 'ana',
      approvedAt: '2026-03-01T13:00:00Z',
      conditions: [{ status: 'True' }],
    });
  });
});
