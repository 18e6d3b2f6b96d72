import { canonicalJson } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { ActivityCode } from '../../model/declare/activities.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Plan } from '../plan.ts';
import { type Drift, driftOfObject } from './drift.ts';

/**
 * The drift that a step makes, and the drift that it ends. Drift begins and ends with commits alone, so each is
 * reported once, however long it lasts. Values are left out: they may be secrets. Yields now and then.
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

/** The drift of an object, by unit, source and value. */
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
