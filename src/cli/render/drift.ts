import { printable } from '../../lib/text/printable.ts';
import type { Problem } from '../../model/problem.ts';
import type { DriftReport, DriftUnit, ManualRun } from '../../operations/config/drift.ts';
import type { Paint } from '../terminal/paint.ts';
import { count, positionText } from '../terminal/problems.ts';
import { renderUnits } from './units.ts';

/** Returns the drift as text: by object and unit, with the reason below each unit. */
export function renderDrift(report: Pick<DriftReport, 'units' | 'byHand'>, paint: Paint): string {
  const { units } = report;
  if (units.length === 0) return `${driftSummary(report)}\n`;
  const objects = new Map<string, DriftUnit[]>();
  for (const unit of units) {
    const name = `${unit.id} ${unit.source}`;
    objects.set(name, [...(objects.get(name) ?? []), unit]);
  }
  const blocks = [...objects.values()].map((of) => `${renderObject(of, paint).join('\n')}\n`);
  return [...blocks, `${paint('strong', driftSummary(report))}\n`].join('\n');
}

/** Returns the amount of drift, in a sentence. */
export function driftSummary({ units, byHand }: Pick<DriftReport, 'units' | 'byHand'>): string {
  const more = byHand.map((run) => `${manualRunText(run)}.`);
  if (units.length === 0 && more.length > 0) return more.join(' ');
  if (units.length === 0) return 'No drift. The account matches its documents.';
  const objects = new Set(units.map(({ id }) => id)).size;
  const sum = `${count(units.length, 'unit')} of ${count(objects, 'object')} ${units.length === 1 ? 'is' : 'are'} not as stated.`;
  return [sum, ...more].join(' ');
}

/**
 * Returns the sentence for a source whose applied state was pushed by hand, and is not the commit that its server last
 * applied.
 */
function manualRunText({ source, revision, by, commit }: ManualRun): string {
  const shown = commit === null ? 'what its server applied' : `commit ${commit.slice(0, 12)}`;
  return `Drifted: the source ${printable(source)} is at revision ${revision}, applied by hand by ${printable(by)}, and not at ${shown}`;
}

/** Returns the drift as problems at the documents that declare other values. */
export function driftProblems({ units, byHand }: Pick<DriftReport, 'units' | 'byHand'>): readonly Problem[] {
  const runs = byHand.map(
    (run): Problem => ({ code: 'drift_by_hand', message: manualRunText(run), source: run.source }),
  );
  const found = units.map((unit): Problem => {
    const { kind, key, name, path, stated, effective, file, line, why } = unit;
    const is = effective === undefined ? 'is absent' : `is ${JSON.stringify(effective)}`;
    const asStated = stated === undefined ? 'and no document states it' : `and is stated as ${JSON.stringify(stated)}`;
    const message = `${path} ${is} ${asStated}; ${reasonOf(unit)}`;
    return { code: `drift_${why}`, kind, key: key ?? name, message, file, line };
  });
  return [...runs, ...found];
}

function renderObject(units: readonly DriftUnit[], paint: Paint): readonly string[] {
  const [first] = units;
  if (first === undefined) return [];
  const name = `${first.kind} ${printable(first.key ?? first.name)}`;
  const position = `(${positionText(first)}, source ${printable(first.source)})`;
  return [`${paint('changed', name)}  ${paint('faint', position)}`, ...units.flatMap((unit) => unitLines(unit, paint))];
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

/** Returns the reason why a unit differs from its declaration, without a full stop. */
function reasonOf({ why, by, until, reason }: DriftUnit): string {
  switch (why) {
    case 'override':
      return `overridden by ${by} until ${until}: ${reason}`;
    case 'failsafe':
      return 'restricted through the API, which documents do not undo';
    case 'pending':
      return 'refers to an object that does not exist yet';
    case 'api':
      return 'changed through the API';
  }
}
