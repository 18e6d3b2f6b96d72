import { isObject } from './json.ts';

/**
 * Returns the `code` of an error thrown by Node, a driver or a library. Returns `undefined` when it is absent or not a
 * string.
 */
export function codeOf(error: unknown): string | undefined {
  return textIn(error, 'code');
}

/** Returns the name of the index that a row violated. Both database drivers name the property `constraint`. */
export function constraintOf(error: unknown): string | undefined {
  return textIn(error, 'constraint');
}

/** Returns the routine of Postgres that raised an error. Both database drivers name the property `routine`. */
export function routineOf(error: unknown): string | undefined {
  return textIn(error, 'routine');
}

function textIn(error: unknown, name: string): string | undefined {
  const value = isObject(error) ? error[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
