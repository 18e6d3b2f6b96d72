import type { Fault } from '../../model/declare/kind.ts';
import type { Fields } from '../../model/schema/field.ts';
import { secretsOfUnit } from '../../model/schema/secret-fields.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { createLabeler, labelPath } from '../view/view.ts';
import { fieldNameOf } from './membership.ts';
import { describeOverride } from './overrides.ts';
import type { Eviction, KeptUnit, UnitConflict } from './state-units.ts';

/** Returns the fault of a unit for which two sources want different values: neither value applies. */
export function describeConflict(state: Snapshot, { path, source, file, line, claimed }: UnitConflict): Fault {
  const statedBy = `the source ${source} at ${file}:${line}`;
  const is = claimed === true ? 'is claimed with another value by' : 'is stated with another value by';
  const stays = claimed === true ? ', which could not apply it either' : '';
  const message = `${unitLabel(state, path)} ${is} ${statedBy}${stays}; agree on one value, state it in one place only, or take it over with --force-ownership`;
  return { code: 'unit_conflict', path: `/${fieldNameOf(path)}`, message };
}

/** Returns the warning about a stated unit, of a kind with these fields, that keeps another value. */
export function describeKept(state: Snapshot, fields: Fields, { path, why, stated }: KeptUnit): Fault {
  const name = unitLabel(state, path);
  const at = `/${fieldNameOf(path)}`;
  if (why === 'failsafe') {
    const message = `${name} keeps its value, because it is a restriction, which documents do not undo; undo it through the API, or state that value`;
    return { code: 'unit_overridden', path: at, message };
  }
  if (why === 'observed') {
    const isSecret = secretsOfUnit(fields, path, stated).length > 0;
    const hint = isSecret
      ? ' (`valueFrom: {stored: true}` keeps the stated secret, so name the origin of its value)'
      : '';
    const message = `${name} differs from the stated value and is not corrected, because the source only observes (conflictMode: observe); state the present value${hint}, or change it back through the API`;
    return { code: 'unit_drifted', path: at, message };
  }
  const message = `${name} is overridden ${describeOverride(why.override)}; the stated value applies when the override ends, or when the field is set to the stated value`;
  return { code: 'unit_overridden', path: at, message };
}

/** Returns the warning about a unit that is taken from the source that stated it. */
export function describeEviction(state: Snapshot, { path, source, file, line }: Eviction): Fault {
  const message = `takes ${unitLabel(state, path)} from the source ${source}, which states another value at ${file}:${line} and will be refused until that is changed`;
  return { code: 'unit_taken', path: `/${fieldNameOf(path)}`, message };
}

function unitLabel(state: Snapshot, path: string): string {
  return labelPath(path, createLabeler(state, state));
}
