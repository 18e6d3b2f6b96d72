import type { DriftUnit } from '../engine/drift.ts';
import { type Paint, printable } from './paint.ts';
import { count, placeOf } from './problems.ts';
import { renderUnits } from './render-units.ts';

/** Differences for reading: object by object, unit by unit, with the reason below each. */
export function renderDrift(units: readonly DriftUnit[], paint: Paint): string {
  if (units.length === 0) return 'No drift. Everything is as its documents state it.\n';
  const objects = new Map<string, DriftUnit[]>();
  for (const unit of units) {
    const name = `${unit.id} ${unit.source}`;
    objects.set(name, [...(objects.get(name) ?? []), unit]);
  }
  const blocks = [...objects.values()].map((of) => `${renderObject(of, paint).join('\n')}\n`);
  const number = new Set(units.map(({ id }) => id)).size;
  const [are] = units.length === 1 ? ['is'] : ['are'];
  const sum = `${count(units.length, 'unit')} of ${count(number, 'object')} ${are} not as stated.`;
  return [...blocks, `${paint('strong', sum)}\n`].join('\n');
}

function renderObject(units: readonly DriftUnit[], paint: Paint): readonly string[] {
  const [first] = units;
  if (first === undefined) return [];
  const name = `${first.kind} ${printable(first.key ?? first.name)}`;
  const place = `(${placeOf(first)}, source ${printable(first.source)})`;
  return [`${paint('changed', name)}  ${paint('faint', place)}`, ...units.flatMap((unit) => unitLines(unit, paint))];
}

function unitLines(unit: DriftUnit, paint: Paint): readonly string[] {
  const { path, stated, effective } = unit;
  const difference = {
    path,
    ...(stated === undefined ? {} : { before: stated }),
    ...(effective === undefined ? {} : { after: effective }),
  };
  const lines = renderUnits('update', [difference], paint).map((line) => `    ${line}`);
  return [...lines, `        ${paint('faint', printable(reasonOf(unit)))}`];
}

/** Why a unit is not as it is stated, as a sentence without its end. */
function reasonOf({ why, by, until, reason }: DriftUnit): string {
  switch (why) {
    case 'override':
      return `overridden by ${by} until ${until}: ${reason}`;
    case 'failsafe':
      return 'restricted through the API, which documents do not undo';
    case 'pending':
      return 'names what is not there yet';
    case 'api':
      return 'changed through the API';
  }
}
