import type { ErrorObject, ValidateFunction } from 'ajv';
import { appendPointer, type Json, type JsonObject } from '../../../lib/json.ts';
import { nearest } from '../../../lib/nearest.ts';
import type { Fault, Kind } from '../../declare/kind.ts';
import type { Registry } from '../../declare/registry.ts';
import { documentFields, fieldsOn, type Surface, secretOrigin, specSchema, valueOrigins } from '../../lower/shape.ts';
import type { ProblemCode } from '../../problem-codes.ts';
import type { Fields } from '../field.ts';
import { hasMoreEntries } from '../normalize.ts';
import { createCompiler, createErrorFinder, findErrors } from './bounded-validation.ts';
import { withForeignNameHint } from './foreign-names.ts';
import { fieldAt, readSchemaPath } from './schema-path.ts';
import { mostAllowed, noStoredValues, type StoredValues } from './stored-values.ts';
import { maxFaults, type Validator } from './validator.ts';

/**
 * `validateSchema` is off: the schemas are our own, a test checks them against the meta-schema, and compiling the
 * meta-schema takes longer than compiling them. `optimize` is off: it takes a third of the compile time, and the
 * validators are as fast without it.
 */
const options = {
  ...{ strict: true, allErrors: true, verbose: true, allowUnionTypes: true, validateSchema: false },
  code: { optimize: false },
} as const;

/** Cached by kinds, which alone determine the schemas. Compiling the schemas of all kinds takes 200 ms. */
const validators = new WeakMap<Registry['kinds'], Validator>();

/**
 * Returns the validator of a registry. It coerces nothing, fills in no defaults, and reports unknown members as faults.
 */
export function createValidator(registry: Registry): Validator {
  const validator = validators.get(registry.kinds) ?? validatorOf(registry);
  validators.set(registry.kinds, validator);
  return validator;
}

function validatorOf(registry: Registry): Validator {
  const { ajv, bounds } = createCompiler({ ...options, strictRequired: false });
  for (const keyword of ['x-ref', 'x-merge', 'x-literal']) ajv.addKeyword({ keyword });
  const compiled = new Map<string, CompiledShape>();
  const compile = (kind: Kind, surface: Surface): CompiledShape => ({
    validate: ajv.compile(specSchema(registry, kind, surface)),
    fields: shapeFields(registry, kind, surface),
  });
  return {
    check(kind, surface, spec, stored = noStoredValues, most = maxFaults) {
      const name = `${kind}/${surface}`;
      const { validate, fields } = compiled.get(name) ?? compile(registry.get(kind), surface);
      compiled.set(name, { validate, fields });
      const isExempt = (error: ErrorObject) => isWithinLimit(error, stored, fields);
      const errors = findErrors(validate, spec, { bounds, most, isExempt });
      return errors.map((error) => withForeignNameHint(fields, faultOf(error), error.data));
    },
  };
}

/** Validator of one kind on one surface, and the fields that it validates. */
interface CompiledShape {
  readonly validate: ValidateFunction;
  readonly fields: Fields;
}

function shapeFields(registry: Registry, kind: Kind, surface: Surface): Fields {
  return surface === 'document' ? documentFields(registry, kind) : fieldsOn(kind, surface);
}

/**
 * Stored values may exceed limits that were introduced later, or from which their writer was exempt. Such values are
 * accepted, so that other fields can still be changed. A list or map may then stay as long as it is or become shorter.
 * Sets count without their repeats.
 */
function isWithinLimit(error: ErrorObject, stored: StoredValues, fields: Fields): boolean {
  const { keyword, data, params, instancePath: pointer } = error;
  const path = readSchemaPath(error.schemaPath);
  switch (keyword) {
    case 'maxLength':
    case 'minimum':
    case 'maximum':
      return (typeof data === 'string' || typeof data === 'number') && stored.has({ path, pointer }, data);
    case 'maxItems':
    case 'maxProperties': {
      const most = mostAllowed(Number(params['limit']), stored, { path, pointer });
      return typeof data === 'object' && data !== null && !hasMoreEntries(fieldAt(fields, path), data, most);
    }
    default:
      return false;
  }
}

/**
 * Returns a function that checks values against one JSON Schema. The schema is compiled at the first call; the first
 * compilation of a process takes 40 ms.
 */
export function createChecker(schema: JsonObject): (value: Json) => readonly Fault[] {
  const find = createErrorFinder(schema, options);
  return (value) => find(value).map(faultOf);
}

function faultOf(error: ErrorObject): Fault {
  const params = error.params as Readonly<Record<string, unknown>>;
  const name = error.instancePath.split('/').at(-1) ?? '';
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownField(error, String(params['additionalProperty']));
    case 'required':
      return {
        code: 'field_required',
        path: error.instancePath,
        message: `\`${params['missingProperty']}\` is required; add it`,
      };
    case 'type':
      return {
        code: 'type_wrong',
        path: error.instancePath,
        message: `${label(name)} must be ${withArticle(String(params['type']))}, not ${describeType(error.data)}${unitHint(params['type'], error.data)}`,
      };
    case 'enum':
      return notAllowed(error, name);
    default:
      return {
        code: codes[error.keyword] ?? 'value_invalid',
        path: error.instancePath,
        message: `${label(name)} ${describeLimit(error.keyword, params)}`,
      };
  }
}

const codes: Readonly<Record<string, ProblemCode>> = {
  minimum: 'value_out_of_range',
  maximum: 'value_out_of_range',
  minLength: 'value_too_short',
  maxLength: 'value_too_long',
  minItems: 'list_too_short',
  maxItems: 'list_too_long',
  minProperties: 'object_too_small',
  maxProperties: 'object_too_large',
};

function describeLimit(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const limit = params['limit'];
  switch (keyword) {
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} entries`;
    case 'maxItems':
      return `must have at most ${limit} entries`;
    case 'minProperties':
      return `must have at least ${limit} members`;
    case 'maxProperties':
      return `must have at most ${limit} members`;
    default:
      return `is not valid (${keyword})`;
  }
}

/**
 * Members of a secret's placeholder in a document. Any other member may be the secret itself, so messages do not repeat
 * it unless it resembles one of these.
 */
const secretMembers: readonly string[] = ['valueFrom', ...valueOrigins, secretOrigin];

function unknownField(error: ErrorObject, name: string): Fault {
  const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object);
  const guess = nearest(name, known);
  if (guess === undefined && known.some((member) => secretMembers.includes(member))) {
    const message = `${label(error.instancePath.split('/').at(-1) ?? '')} names the origin of a secret by ${known.join(' or ')}; remove everything else there`;
    return { code: 'field_unknown', path: error.instancePath, message };
  }
  const hint = guess === undefined ? `known are ${known.join(', ')}` : `did you mean \`${guess}\`?`;
  return {
    code: 'field_unknown',
    path: appendPointer(error.instancePath, name),
    message: `unknown field \`${name}\`; ${hint}`,
  };
}

function notAllowed(error: ErrorObject, name: string): Fault {
  const { allowedValues: allowed } = error.params as { readonly allowedValues: readonly Json[] };
  const guess = typeof error.data === 'string' ? nearestText(error.data, allowed) : undefined;
  const hint = guess === undefined ? '' : `; did you mean \`${guess}\`?`;
  return {
    code: 'value_not_allowed',
    path: error.instancePath,
    message: `${label(name)} must be one of ${allowed.join(', ')}${hint}`,
  };
}

/** Returns the allowed text that a mistyped text probably means. Other values are allowed too, such as `true`. */
function nearestText(text: string, allowed: readonly Json[]): string | undefined {
  return nearest(
    text,
    allowed.filter((value) => typeof value === 'string'),
  );
}

function label(name: string): string {
  return name === '' ? 'the body' : /^\d+$/.test(name) ? `entry ${name}` : `\`${name}\``;
}

/** Other tools accept `30d` for a number of seconds. */
function unitHint(type: unknown, given: unknown): string {
  if (type !== 'integer' || typeof given !== 'string' || !/^\d{1,9}(?:ms|[smhdw])$/.test(given)) return '';
  return `; write the number without a unit instead of \`${given}\` (a day has 86400 seconds)`;
}

function withArticle(type: string): string {
  return type === 'array' ? 'a list' : type === 'integer' || type === 'object' ? `an ${type}` : `a ${type}`;
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return withArticle(typeof value);
}
