/** Returns the value. Throws when it is `undefined`, which ends the test. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing');
  return value;
}
