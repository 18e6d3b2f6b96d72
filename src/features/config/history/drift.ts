import type { Call, Engine } from '../../../commit/engine.ts';
import { listManualRevisions } from '../../../db/sources/manual-revisions.ts';
import type { DriftReport, DriftUnit } from '../../../operations/config/drift.ts';
import { isAllowed } from '../../../plan/checks/authorize.ts';
import { type Drift, driftOf } from '../../../plan/ownership/drift.ts';
import { createLabeler, type Labeler, viewUnits } from '../../../plan/view/view.ts';

/**
 * Returns every unit whose value differs from the value that a source states: of one source, or of all. Only kinds that
 * the caller may read are included.
 */
export async function reportDrift(engine: Engine, call: Call, source?: string): Promise<DriftReport> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const label = createLabeler(state, state);
  const drifts = driftOf(state, engine.now(), source).filter(({ object }) =>
    isAllowed(state, call.actor, engine.registry.get(object.kind).module, 'read'),
  );
  const manualRevisions = await listManualRevisions(engine.database, call.account);
  return {
    revision: state.revision,
    units: drifts.map((drift) => viewDrift(engine, drift, label)),
    byHand: manualRevisions.filter((run) => source === undefined || run.source === source),
  };
}

function viewDrift({ registry }: Engine, drift: Drift, label: Labeler): DriftUnit {
  const { object, path, by, stated, effective, because } = drift;
  const { kind, key, name, id } = object;
  const [unit] = viewUnits(
    registry.get(kind).spec,
    [
      {
        path,
        ...(stated === undefined ? {} : { before: stated }),
        ...(effective === undefined ? {} : { after: effective }),
      },
    ],
    label,
  );
  const { source, file, line } = by;
  return {
    ...{ kind, name, id, source, file, line },
    ...(key === undefined ? {} : { key }),
    path: unit?.path ?? path,
    ...(unit?.before === undefined ? {} : { stated: unit.before }),
    ...(unit?.after === undefined ? {} : { effective: unit.after }),
    why: because.why,
    ...('override' in because
      ? { until: because.override.until, by: because.override.by.name, reason: because.override.reason }
      : {}),
  };
}
