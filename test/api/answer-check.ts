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

/** Fails the test when an answer is not what the OpenAPI document says about its operation. */
export type AnswerCheck = (method: string, url: string, answer: Answer) => void;

/** By edition, installation and profile, beyond which nothing of a server is described: compiling the schemas takes long. */
const checks = new Map<string, AnswerCheck>();

/** Checks every answer by what the program says about itself in an edition. */
export async function createAnswerCheck(
  registry: Registry,
  edition: Edition,
  profile: Profile = 'specification',
): Promise<AnswerCheck> {
  const key = JSON.stringify([edition, registry.installation, profile]);
  // What operations declare is of the specification.
  const declared = profile === 'specification' ? declaredAnswers() : undefined;
  const check = checks.get(key) ?? checkBy(await describeApi(registry, { version: '0', edition, profile }), declared);
  checks.set(key, check);
  return check;
}

/** The answers of declared operations, by method and path. */
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
 * Checks every answer of the operations of an OpenAPI document: the status is listed, and the body has these members and
 * no others. A typed client has to take it too: it is what the operation declares.
 */
export function checkBy(description: JsonObject, declared: DeclaredAnswers = new Map()): AnswerCheck {
  // To optimize the code of the validators takes as long as to make it, and they are as fast.
  const code = { optimize: false };
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': isTimestamp }, code });
  ajv.addSchema(closed(description) as JsonObject, 'openapi');
  const compiled = new Map<string, ValidateFunction>();
  const paths = Object.keys(description['paths'] as JsonObject)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }));

  const validatorFor = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };

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
    // What callers may have in another media type is declared as JSON.
    const isJson = (answer.headers['content-type'] ?? '').includes('json');
    const field = isJson ? declared.get(`${method} ${path}`) : undefined;
    if (field !== undefined)
      expect(findMismatch(field, answer.body), `misfit in the answer of ${path}`).toBeUndefined();
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
  validatorFor: (pointer: string) => ValidateFunction,
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

/** The same description, but an object with declared members has no others. */
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
