import { isObject } from './json.ts';

/** The `code` of an error of Node, of a driver or of a library; `undefined` when it has none that is a text. */
export function codeOf(error: unknown): string | undefined {
  return textIn(error, 'code');
}

/** The index that refused a row: both drivers of the database name it so. */
export function constraintOf(error: unknown): string | undefined {
  return textIn(error, 'constraint');
}

function textIn(error: unknown, name: string): string | undefined {
  const value = isObject(error) ? error[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
