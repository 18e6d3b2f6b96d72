import { printable } from '../../lib/text/printable.ts';
import type { ObjectOverrides } from '../../operations/config/overrides.ts';
import type { Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { renderOverrides } from './render.ts';

/** Prints the overrides of an object after one started or ended, and notices. */
export function printOverridden(
  { flags, terminal }: Pick<Invocation, 'flags' | 'terminal'>,
  overridden: ObjectOverrides,
): number {
  if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...overridden });
  else terminal.out(textOf(overridden, terminal.paint));
  for (const notice of overridden.notices) terminal.note(`${printable(notice)}\n`);
  return exit.ok;
}

function textOf({ overrides, lasting }: ObjectOverrides, paint: Parameters<typeof renderOverrides>[1]): string {
  const held = overrides.length === 0 ? 'The object has no overrides now.\n' : renderOverrides(overrides, paint);
  const stays = lasting.map(
    (one) => `${printable(one)} is a restriction now: it has no end, and stays until it is set back.\n`,
  );
  return [held, ...stays].join('');
}
