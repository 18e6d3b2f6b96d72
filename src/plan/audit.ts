import type { AuditEvent, Kind } from '../model/kind.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { type Change, type Plan, subjectOf } from './plan.ts';

/** The audit events of a plan, in the order of its changes. */
export function auditEvents(plan: Plan, before: Snapshot, after: Snapshot): readonly AuditEvent[] {
  return plan.changes.flatMap((change) => eventsOf(change, before, after));
}

function eventsOf(change: Change, before: Snapshot, after: Snapshot): readonly AuditEvent[] {
  const subject = subjectOf(change);
  const kind = after.registry.get(subject.kind);
  const state = change.action === 'delete' ? before : after;
  if (
    change.action === 'update' &&
    kind.updateEvents !== undefined &&
    change.before !== undefined &&
    change.after !== undefined
  ) {
    return kind.updateEvents(change.before, change.after, after).map((event) => ({ target: subject.id, ...event }));
  }
  const code = kind.activity?.[change.action];
  const plain: readonly AuditEvent[] =
    code === undefined
      ? []
      : [{ code, target: subject.id, meta: kind.activityMeta?.(subject, state) ?? { name: subject.name } }];
  return [...plain, ...besides(kind, change, state)];
}

function besides(kind: Kind, { action, before, after }: Change, state: Snapshot): readonly AuditEvent[] {
  const subject = after ?? before;
  if (subject === undefined || action === 'update') return [];
  const events = action === 'create' ? kind.createEvents?.(subject, state) : kind.deleteEvents?.(subject, state);
  return (events ?? []).map((event) => ({ target: subject.id, ...event }));
}
