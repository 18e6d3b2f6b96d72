import { printable } from '../../lib/text/printable.ts';

/** Returns a value of an answer as text; `-` when it is absent or empty. */
export function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
