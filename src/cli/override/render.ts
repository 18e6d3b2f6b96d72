import { printable } from '../../lib/text/printable.ts';
import type { RunningOverride } from '../../operations/config/overrides.ts';
import { renderUnits } from '../render/units.ts';
import type { Paint } from '../terminal/paint.ts';
import { positionText } from '../terminal/problems.ts';

/** Returns the overrides as text: the overriding value of each unit, and below it the end, the user and the reason. */
export function renderOverrides(overrides: readonly RunningOverride[], paint: Paint): string {
  return overrides
    .flatMap((one, at) => [...headOf(one, overrides[at - 1], paint), ...linesOf(one, paint)])
    .map((line) => `${line}\n`)
    .join('');
}

/** Returns the heading of an object, unless the previous override is of the same object. */
function headOf(one: RunningOverride, last: RunningOverride | undefined, paint: Paint): readonly string[] {
  if (one.id === last?.id) return [];
  const position =
    one.file === undefined
      ? ''
      : `  ${paint('faint', `(${positionText(one)}, source ${printable(one.source ?? '')})`)}`;
  return [`${paint('changed', `${one.kind} ${printable(one.key ?? one.name)}`)}${position}`];
}

function linesOf({ path, stated, value, until, by, reason }: RunningOverride, paint: Paint): readonly string[] {
  const unit = {
    path,
    ...(stated === undefined ? {} : { before: stated }),
    ...(value === undefined ? {} : { after: value }),
  };
  const why = paint('faint', printable(`until ${until} by ${by}: ${reason}`));
  return [...renderUnits('update', [unit], paint).map((line) => `    ${line}`), `        ${why}`];
}
