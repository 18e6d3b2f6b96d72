import type { Json, JsonObject } from '../../lib/json.ts';
import type { Fault } from '../declare/kind.ts';
import { entriesOf, type Fields, type SpecOf } from '../schema/field.ts';
import { normalize } from '../schema/normalize.ts';
import { isTyped, otherFormatFaults } from '../schema/other-faults.ts';
import { prepareRequest, unknownFaults } from '../schema/prepare.ts';
import { createChecker } from '../schema/validate.ts';
import { schemaOfFields } from './schema.ts';

/** The canonical body of a request, what is wrong with it, and the members that nothing knows. */
interface ReadBody<F extends Fields> {
  /** Means nothing when something is wrong. */
  readonly body: SpecOf<F>;
  readonly faults: readonly Fault[];
  /** JSON pointers. */
  readonly ignored: readonly string[];
}

const nothing: ReadonlySet<string> = new Set();

/** Reads a body as those of kinds are read: prepared, validated with all faults at once, brought to its canonical form. */
export function readBody<F extends Fields>(
  fields: F,
  given: JsonObject,
  { strict }: { readonly strict: boolean },
): ReadBody<F> {
  const prepared = prepareRequest(fields, nothing, given);
  const { ignored } = prepared;
  const shape = [
    ...prepared.faults,
    ...(strict ? unknownFaults(prepared) : []),
    ...missingFaults(fields, prepared.body),
    ...checkerOf(fields)(prepared.body),
  ];
  const faults = isTyped(shape) ? [...shape, ...otherFormatFaults(fields, prepared.body, shape)] : shape;
  const body = faults.length > 0 ? {} : normalize(fields, prepared.body).spec;
  // What has no faults is what the fields describe.
  return { body: body as SpecOf<F>, faults, ignored };
}

/** What is missing of that which has words of its own for it. */
function missingFaults(fields: Fields, body: JsonObject): readonly Fault[] {
  return entriesOf(fields).flatMap(([name, { missing }]) =>
    missing === undefined || body[name] !== undefined
      ? []
      : [{ code: 'field_required' as const, path: '', message: `\`${name}\` is missing; ${missing}` }],
  );
}

type Checker = (value: Json) => readonly Fault[];

/** Declarations are never edited: each is compiled once. */
const checkers = new WeakMap<Fields, Checker>();

function checkerOf(fields: Fields): Checker {
  const known = checkers.get(fields) ?? createChecker(schemaOfFields(fields, 'check'));
  checkers.set(fields, known);
  return known;
}
