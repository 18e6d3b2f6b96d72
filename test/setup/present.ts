/** A value that is there; a test in which it is not ends. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing');
  return value;
}
