import type { ChangeView, PlanView, UnitView } from '../../src/operations/config/plan.ts';

/** A plan without changes. */
const idle: PlanView = {
  formatVersion: '1.0',
  digest: 'd1',
  baseRevision: 4,
  counts: { create: 0, update: 0, delete: 0, claims: 0 },
  changes: [],
  claims: [],
  guards: [],
  warnings: [],
};

/** Returns a plan with these parts. Its counts are computed from its changes. */
export function view(parts: Partial<PlanView> = {}): PlanView {
  const { changes = [], claims = [] } = parts;
  const count = (action: ChangeView['action']) => changes.filter((change) => change.action === action).length;
  const counts = {
    create: count('create'),
    update: count('update'),
    delete: count('delete'),
    claims: claims.length,
  };
  return { ...idle, counts, ...parts };
}

/** Returns a change of an object whose key, name and id are derived from one text. */
export function change(
  action: ChangeView['action'],
  kind: string,
  key: string,
  units: readonly UnitView[] = [],
  more: Partial<ChangeView> = {},
): ChangeView {
  const id = action === 'create' ? {} : { id: `id-${key}` };
  return { action, kind, key, name: key, ...id, units, risks: [], ...more };
}
