import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { boundLoops, type ValidationBounds } from './bounded-keywords.ts';
import { maxFaults } from './validator.ts';

/** Compiles schemas to validators that stop soon after a number of errors. */
interface BoundedCompiler {
  readonly ajv: Ajv;
  readonly bounds: ValidationBounds;
}

export function createCompiler(options: Options): BoundedCompiler {
  const ajv = new Ajv(options);
  const bounds = { errors: maxFaults, entersOversized: false };
  boundLoops(ajv, bounds);
  return { ajv, bounds };
}

/** How errors of one value are searched for. */
interface ErrorSearch {
  readonly bounds: ValidationBounds;
  readonly most?: number;
  /** Whether an error does not count. Absent: all count. */
  readonly isExempt?: (error: ErrorObject) => boolean;
}

/**
 * Returns up to `most` errors of a value. Exempt errors do not count: while they use up the bounds, the value is
 * validated again with wider ones, so that they hide no other error.
 */
export function findErrors(
  validate: ValidateFunction,
  value: Json,
  { bounds, most = maxFaults, isExempt = () => false }: ErrorSearch,
): readonly ErrorObject[] {
  for (bounds.errors = most, bounds.entersOversized = false; ; ) {
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    const found = errors.filter((error) => !isExempt(error));
    const isComplete = errors.length < bounds.errors && (bounds.entersOversized || found.length === errors.length);
    if (found.length >= most || isComplete) return found.slice(0, most);
    if (errors.length >= bounds.errors) bounds.errors *= 4;
    bounds.entersOversized = true;
  }
}

/** Returns a function that finds the errors of values by one schema, which is compiled at the first call. */
export function createErrorFinder(schema: JsonObject, options: Options): (value: Json) => readonly ErrorObject[] {
  let compiled: (BoundedCompiler & { readonly validate: ValidateFunction }) | undefined;
  return (value) => {
    compiled ??= compile(schema, options);
    return findErrors(compiled.validate, value, compiled);
  };
}

function compile(schema: JsonObject, options: Options): BoundedCompiler & { readonly validate: ValidateFunction } {
  const compiler = createCompiler(options);
  return { ...compiler, validate: compiler.ajv.compile(schema) };
}
