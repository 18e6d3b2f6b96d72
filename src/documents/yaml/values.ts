import type { ProblemCode } from '../../model/problem-codes.ts';
import { truncate } from '../truncate.ts';
import { templateFault } from './conflict-markers.ts';

/** Reason for which a value is refused. */
export interface Fault {
  readonly code: ProblemCode;
  readonly message: string;
}

/**
 * Returns the fault of a string anywhere in a document. Postgres stores neither NUL nor half of a surrogate pair, and a
 * template placeholder is never meant literally.
 */
export function stringFault(value: string): Fault | undefined {
  if (value.includes('\0')) {
    return {
      code: 'string_nul',
      message: 'The string contains a NUL character (U+0000), which cannot be stored; remove it.',
    };
  }
  if (value.isWellFormed()) return templateFault(value);
  const message =
    'The string contains half of a surrogate pair, which is not a character; write both halves or remove it.';
  return { code: 'string_surrogate', message };
}

/** Returns the fault of a number. An integer beyond 2^53 - 1 would silently become a different number. */
export function numberFault(value: number, text: string = String(value)): Fault | undefined {
  const source = truncate(text);
  if (!Number.isFinite(value)) {
    const message = `\`${source}\` is not a finite number; write a number, or, to use it as text, quote it: "${source}".`;
    return { code: 'number_not_finite', message };
  }
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined;
  const message = `The number \`${source}\` cannot be kept exactly (beyond 2^53 - 1); to use it as text, quote it: "${source}".`;
  return { code: 'number_unsafe', message };
}

/** Returns the fault of a key. `plain`: the key is written without quotes. */
export function keyFault(key: string, plain: boolean): Fault | undefined {
  if (key === '__proto__') {
    return { code: 'key_forbidden', message: 'The key `__proto__` is not allowed; rename or remove it.' };
  }
  if (plain && key === '<<') {
    const message = 'The merge key `<<` is not allowed; write the members out.';
    return { code: 'yaml_merge_key', message };
  }
  if (plain && key === '') {
    return { code: 'key_missing', message: 'There is a `:` without a key before it; write the key.' };
  }
  return stringFault(key);
}
