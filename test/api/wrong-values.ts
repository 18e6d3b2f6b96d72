import { isObject, type Json } from '../../src/lib/json.ts';

/** An object that throws when it is converted to a string or a number, and that looks like a list. */
const hostile = { toString: 2, valueOf: 2, toJSON: 2, length: 1_000_000_000, constructor: 1 };
const wrongValues: readonly Json[] = [
  ...[hostile, [hostile], 7, true, 'x', [null], { valueFrom: { stored: 'true' } }],
  // `JSON.parse` creates an own member of this name, like the server's parser.
  JSON.parse('{"__proto__":{"type":1}}'),
];

/** Returns copies of a value, each with one wrong value at one path. One of the paths is the whole value. */
export function variantsOf(value: Json): readonly Json[] {
  const here = wrongValues;
  if (Array.isArray(value)) {
    const [first, ...others] = value as readonly Json[];
    return first === undefined ? here : [...here, ...variantsOf(first).map((item) => [item, ...others])];
  }
  if (!isObject(value)) return here;
  const members = Object.entries(value);
  return [
    ...here,
    ...members.flatMap(([name, inner]) => variantsOf(inner).map((variant) => ({ ...value, [name]: variant }))),
  ];
}
