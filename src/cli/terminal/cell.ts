import { printable } from './paint.ts';

/** A value of an answer as one piece of text; `-` where there is none. */
export function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
