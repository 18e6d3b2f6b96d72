import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { areas } from '../../src/api/area-routes.ts';
import { describeApi } from '../../src/api/description.ts';
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Registry } from '../../src/model/declare/registry.ts';
import type { Edition } from '../../src/model/edition.ts';
import { findMismatch } from '../../src/model/operation/answer.ts';
import type { Profile } from '../../src/model/profile.ts';
import type { AnyField } from '../../src/model/schema/field.ts';
import type { Answer } from './setup.ts';

/** Fails the test when an answer does not match its operation in the OpenAPI document. */
export type AnswerCheck = (method: string, url: string, answer: Answer) => void;

/** Cached checks by edition, installation and profile, on which the OpenAPI document depends. */
const checks = new Map<string, AnswerCheck>();

/** Cached validators of bodies by OpenAPI document, without its version. Compiling the schemas is slow. */
const validators = new Map<string, ValidatorAt>();

/** Returns the validator of the schema at a JSON pointer of a document. */
type ValidatorAt = (pointer: string) => ValidateFunction;

/** Returns the check of answers against the program's OpenAPI document for an edition and a profile. */
export async function createAnswerCheck(
  registry: Registry,
  edition: Edition,
  profile: Profile = 'specification',
): Promise<AnswerCheck> {
  const key = JSON.stringify([edition, registry.installation, profile]);
  // Declared operations describe the profile `specification`.
  const declared = profile === 'specification' ? declaredAnswers() : undefined;
  const check = checks.get(key) ?? checkBy(await describeApi(registry, { version: '0', edition, profile }), declared);
  checks.set(key, check);
  return check;
}

/** Declared answers of operations, by method and path. */
type DeclaredAnswers = ReadonlyMap<string, AnyField>;

function declaredAnswers(): DeclaredAnswers {
  const operations = areas.flatMap((area) => area.operations);
  return new Map(
    operations.flatMap(({ method, path, answer, answerType }) =>
      answer === undefined || answerType !== undefined ? [] : [[`${method} ${path}`, answer]],
    ),
  );
}

/**
 * Returns the check of answers against an OpenAPI document: the status must be listed, and the body must have exactly
 * the described members. The answer must also match the operation's declaration, which typed clients follow.
 */
export function checkBy(description: JsonObject, declared: DeclaredAnswers = new Map()): AnswerCheck {
  const validatorFor = validatorsOf(description);
  const paths = Object.keys(description['paths'] as JsonObject)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }));

  return (method, url, answer) => {
    const path = paths.find(({ pattern }) => pattern.test(url.split('?')[0] ?? ''))?.path;
    const operation = path === undefined ? undefined : at(description, ['paths', path, method.toLowerCase()]);
    if (answer.status >= 400) checkError(validatorFor('/components/schemas/Error'), answer);
    if (path === undefined || operation === undefined || answer.status === 304) return;
    const pointer = ['paths', path, method.toLowerCase(), 'responses', String(answer.status)];
    expect(Object.keys(at(operation, ['responses']) as JsonObject), `statuses of ${method} ${path}`).toContain(
      String(answer.status),
    );
    if (answer.status >= 400) return;
    checkBody(description, pointer, validatorFor, answer);
    // An answer that is also available in another media type is declared in its JSON form.
    const isJson = (answer.headers['content-type'] ?? '').includes('json');
    const field = isJson ? declared.get(`${method} ${path}`) : undefined;
    if (field !== undefined)
      expect(findMismatch(field, answer.body), `misfit in the answer of ${path}`).toBeUndefined();
  };
}

function validatorsOf(description: JsonObject): ValidatorAt {
  const key = JSON.stringify({ ...description, info: null });
  const found = validators.get(key) ?? createValidators(description);
  validators.set(key, found);
  return found;
}

function createValidators(description: JsonObject): ValidatorAt {
  // Optimizing the code of the validators takes as long as generating it, and does not make them faster.
  const code = { optimize: false };
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': isTimestamp }, code });
  ajv.addSchema(closed(description) as JsonObject, 'openapi');
  const compiled = new Map<string, ValidateFunction>();
  return (pointer) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
}

function checkError(validate: ValidateFunction, answer: Answer): void {
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expectValid(validate, answer);
  expect(answer.body.code).toBe(answer.status);
}

function checkBody(
  description: JsonObject,
  pointer: readonly string[],
  validatorFor: ValidatorAt,
  answer: Answer,
): void {
  const content = at(description, [...pointer, 'content']);
  if (content === undefined) {
    expect(answer.body).toBe('');
    return;
  }
  const type = String(answer.headers['content-type']).split(';')[0] ?? '';
  expect(Object.keys(content as JsonObject)).toContain(type);
  if (type !== 'application/json') return;
  expectValid(validatorFor([...pointer, 'content', type, 'schema'].map(escaped).join('')), answer);
}

function expectValid(validate: ValidateFunction, { body }: Answer): void {
  if (!validate(body)) expect(validate.errors, JSON.stringify(body)).toBe(true);
}

/** Returns the same description, in which objects with declared members allow no others. */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (!isObject(value)) return value;
  const members = Object.fromEntries(Object.entries(value as JsonObject).map(([name, item]) => [name, closed(item)]));
  const isSchema = members['type'] === 'object' && isObject(members['properties']);
  return isSchema && members['additionalProperties'] === undefined
    ? { ...members, additionalProperties: false }
    : members;
}

function at(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (inner, name) => (isObject(inner) ? (inner as JsonObject)[name] : undefined),
    value,
  );
}

function escaped(name: string): string {
  return `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

function isTimestamp(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text);
}
