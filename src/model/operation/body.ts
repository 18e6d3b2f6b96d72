import type { Json, JsonObject } from '../../lib/json.ts';
import type { Fault } from '../declare/kind.ts';
import type { Fields, SpecOf } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { normalize } from '../schema/normalize.ts';
import { prepareRequest, unknownFaults } from '../schema/prepare.ts';
import { isTyped, otherFormatFaults } from '../schema/validation/other-faults.ts';
import { createChecker } from '../schema/validation/validate.ts';
import { schemaOfFields } from './schema.ts';

/** Canonical body of a request, its faults, and its unknown members. */
interface ParsedBody<F extends Fields> {
  /** Valid only when `faults` is empty. */
  readonly body: SpecOf<F>;
  readonly faults: readonly Fault[];
  /** Unknown members, as JSON pointers. */
  readonly ignored: readonly string[];
}

const noReadOnly: ReadonlySet<string> = new Set();

/**
 * Reads a body in the same way as the body of a kind: prepares it, validates it reporting all faults at once, and
 * normalizes it.
 */
export function readBody<F extends Fields>(
  fields: F,
  given: JsonObject,
  { strict }: { readonly strict: boolean },
): ParsedBody<F> {
  const prepared = prepareRequest(fields, noReadOnly, given);
  const { ignored } = prepared;
  const shape = [
    ...prepared.faults,
    ...(strict ? unknownFaults(prepared) : []),
    ...missingFaults(fields, prepared.body),
    ...checkerOf(fields)(prepared.body),
  ];
  const faults = isTyped(shape) ? [...shape, ...otherFormatFaults(fields, prepared.body, shape)] : shape;
  const body = faults.length > 0 ? {} : normalize(fields, prepared.body).spec;
  // A body without faults has the shape of the fields.
  return { body: body as SpecOf<F>, faults, ignored };
}

/** Returns faults for missing fields that declare their own message (`missingHint`). */
function missingFaults(fields: Fields, body: JsonObject): readonly Fault[] {
  return entriesOf(fields).flatMap(([name, { missingHint }]) =>
    missingHint === undefined || body[name] !== undefined
      ? []
      : [{ code: 'field_required' as const, path: '', message: `\`${name}\` is missing; ${missingHint}` }],
  );
}

type Checker = (value: Json) => readonly Fault[];

/** Compiled checkers. Declarations never change, so each is compiled once. */
const checkers = new WeakMap<Fields, Checker>();

function checkerOf(fields: Fields): Checker {
  const known = checkers.get(fields) ?? createChecker(schemaOfFields(fields, 'check'));
  checkers.set(fields, known);
  return known;
}
