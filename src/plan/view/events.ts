import { canonicalJson } from '../../lib/json.ts';
import { mapInSteps, runToEnd } from '../../lib/steps.ts';
import type { ActivityCode } from '../../model/declare/activities.ts';
import type { AuditEvent, Kind } from '../../model/declare/kind.ts';
import type { Override, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { type Drift, driftOfObject } from '../ownership/drift.ts';
import { type Change, type Claim, type Plan, subjectOf } from '../plan.ts';
import { createLabeler, labelPath } from './view.ts';

/** Returns the audit events of a plan, in the order of its changes. */
export function auditEvents(plan: Plan, before: Snapshot, after: Snapshot): readonly AuditEvent[] {
  return runToEnd(auditEventsInSteps(plan, before, after));
}

/** Same as `auditEvents`, as a generator that yields now and then. */
export function* auditEventsInSteps(
  plan: Plan,
  before: Snapshot,
  after: Snapshot,
): Generator<undefined, readonly AuditEvent[]> {
  const changed = yield* mapInSteps(plan.changes, (change) => [
    ...eventsOf(change, before, after),
    ...overrideEvents(change, after),
  ]);
  const claimed = yield* mapInSteps(plan.claims, (claim) => overrideEvents(claim, after));
  return [...changed.flat(), ...claimed.flat(), ...rollbackEvents(plan)];
}

function rollbackEvents({ account, rollback }: Plan): readonly AuditEvent[] {
  if (rollback === undefined) return [];
  const { revision, scope, suspends } = rollback;
  const meta = { revision: String(revision), scope, sources: suspends.join(', ') };
  return [{ code: 'config.rollback', target: account, meta }];
}

/** Overrides that begin, and overrides that end. */
function overrideEvents({ before, after }: Change | Claim, state: Snapshot): readonly AuditEvent[] {
  if (before === undefined || after === undefined || before.overrides === after.overrides) return [];
  const [old, now] = [before.overrides ?? [], after.overrides ?? []];
  const isIn = (list: readonly Override[], { path, until, by }: Override) =>
    list.some((one) => one.path === path && one.until === until && one.by.id === by.id);
  const gone = old.filter(({ path }) => !now.some((one) => one.path === path));
  const made = now.filter((override) => !isIn(old, override));
  const event = (code: ActivityCode, { path, reason, until, by }: Override): AuditEvent => ({
    code,
    target: after.id,
    meta: {
      name: after.name,
      kind: after.kind,
      path: labelPath(path, createLabeler(state, state)),
      reason,
      until,
      by: by.name,
    },
  });
  return [
    ...gone.map((override) => event('config.override.expired', override)),
    ...made.map((override) => event('config.override.created', override)),
  ];
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
  return [...plain, ...ownEvents(kind, change, state)];
}

function ownEvents(kind: Kind, { action, before, after }: Change, state: Snapshot): readonly AuditEvent[] {
  const subject = after ?? before;
  if (subject === undefined || action === 'update') return [];
  const events = action === 'create' ? kind.createEvents?.(subject, state) : kind.deleteEvents?.(subject, state);
  return (events ?? []).map((event) => ({ target: subject.id, ...event }));
}

/**
 * Returns events for the drift that a step causes and the drift that it resolves. Drift begins and ends only with
 * commits, so each drift is reported once, however long it lasts. Values are left out, because they may be secrets.
 * Yields now and then.
 */
export function* driftEventsInSteps(
  plan: Plan,
  before: Snapshot,
  after: Snapshot,
  now: string,
): Generator<undefined, readonly AuditEvent[]> {
  const events = yield* mapInSteps([...plan.changes, ...plan.claims], (change) => {
    const was = driftsIn(before, change.before, now);
    const is = driftsIn(after, change.after, now);
    const detected = [...is].filter(([unit]) => !was.has(unit));
    const resolved = [...was].filter(([unit]) => !is.has(unit));
    return [
      ...detected.map(([, drift]) => eventOf('config.drift.detected', drift)),
      ...resolved.map(([, drift]) => eventOf('config.drift.resolved', drift)),
    ];
  });
  return events.flat();
}

/** Returns the drift of an object, by path, source and values of the unit. */
function driftsIn(state: Snapshot, object: StoredObject | undefined, now: string): ReadonlyMap<string, Drift> {
  if (object === undefined || object.declared.length === 0) return new Map();
  return new Map(
    driftOfObject(state, object, now).map((drift) => [
      canonicalJson([drift.path, drift.by.source, drift.stated ?? null, drift.effective ?? null]),
      drift,
    ]),
  );
}

function eventOf(code: ActivityCode, { object, path, by, because }: Drift): AuditEvent {
  const { kind, key, name, id } = object;
  const meta = { kind, key: key ?? name, path, source: by.source, file: `${by.file}:${by.line}`, why: because.why };
  return { code, target: id, meta };
}
