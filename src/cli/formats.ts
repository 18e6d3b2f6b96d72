import { InvalidInput } from '../model/errors.ts';
import { guessHint } from './arguments.ts';
import type { Flags, Invocation } from './command.ts';

/** Output format for change requests (pull requests, merge requests). */
export type Format = 'markdown' | 'github' | 'gitlab';

const formats: readonly string[] = ['text', 'markdown', 'github', 'gitlab'];

/** Flag `--format`. */
export const formatFlag: Flags = {
  format: {
    placeholder: 'FORM',
    doc: 'text (the default), markdown for the comment on a change request, github for annotations of GitHub Actions, gitlab for a code quality report.',
  },
};

/**
 * Returns the format that the flags select; `undefined` for text. Throws `InvalidInput` for an unknown format, and for
 * `--format` together with `--json`.
 */
export function formatOf(flags: Invocation['flags']): Format | undefined {
  const { format, json } = flags;
  if (typeof format !== 'string') return undefined;
  if (!formats.includes(format))
    throw new InvalidInput(`--format cannot be ${format}; write text, markdown, github or gitlab${guess(format)}`);
  if (json === true) throw new InvalidInput('--json and --format exclude each other; keep one.');
  return knownFormat(flags);
}

/** Returns the format that the flags select. Returns `undefined` for text and for an unknown format. */
export function knownFormat({ format }: Invocation['flags']): Format | undefined {
  return typeof format === 'string' && format !== 'text' && formats.includes(format) ? (format as Format) : undefined;
}

function guess(format: string): string {
  const hint = guessHint(format, formats);
  return hint === '' ? '.' : hint;
}
