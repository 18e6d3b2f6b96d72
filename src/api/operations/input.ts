import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { Fault } from '../../model/declare/kind.ts';
import { InvalidInput, NotFound } from '../../model/errors.ts';
import { readBody } from '../../model/operation/body.ts';
import type { InputOf, Operation } from '../../model/operation/operation.ts';
import { readQuery } from '../../model/operation/query.ts';
import { joinMessages, limitProblems, maxProblems } from '../../model/problem.ts';
import type { AnyField, Fields, SpecOf } from '../../model/schema/field.ts';
import { addIgnoredHeader, isStrict } from '../headers.ts';
import { objectBody } from '../input/bodies.ts';

/** Returns the declared input of an operation. Throws `InvalidInput` with all faults. */
export function readInput(operation: Operation, request: FastifyRequest, reply: FastifyReply): InputOf<Operation> {
  const { query, faults } = readQuery(operation.query, request.query as Readonly<Record<string, unknown>>);
  const read = readBodyOf(operation, request, query);
  addIgnoredHeader(reply, read.ignored);
  refuse([...faults, ...read.faults]);
  return { params: readParams(operation, request), query, body: read.body };
}

/** Returns the query parameters that `fields` declare. Throws `InvalidInput` with all faults. */
export function readParameters<Q extends Fields>(fields: Q, request: FastifyRequest): SpecOf<Q> {
  const { query, faults } = readQuery(fields, request.query as Readonly<Record<string, unknown>>);
  refuse(faults);
  // A query without faults has the type that the fields declare.
  return query as SpecOf<Q>;
}

/** Returns the path parameters, converted by their fields. Throws `NotFound` for a text that cannot name any object. */
function readParams({ params: fields }: Operation, { params }: FastifyRequest): JsonObject {
  // Fastify passes every path parameter as text.
  const texts = Object.entries(params as Readonly<Record<string, string>>);
  return Object.fromEntries(texts.map(([name, text]) => [name, readParam(name, fields[name]?.type, text)]));
}

function readParam(name: string, type: AnyField['type'] | undefined, text: string): string | number {
  if (type !== 'integer') return text;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new NotFound(`${name} ${text} not found`);
}

const noBody = { body: {}, faults: [], ignored: [] };

function readBodyOf(
  { body: fields, optionalBody, bodyInQuery = [] }: Operation,
  request: FastifyRequest,
  query: JsonObject,
) {
  if (fields === undefined) return noBody;
  const given = optionalBody === true && (request.body ?? undefined) === undefined ? {} : objectBody(request.body);
  const more = bodyInQuery.flatMap((name) => memberOf(name, fields[name], given, query));
  const body = more.length === 0 ? given : { ...given, ...Object.fromEntries(more) };
  const read = readBody(fields, body, { strict: isStrict(request) });
  return { ...read, faults: read.faults.map((fault) => asParameter(fault, bodyInQuery)) };
}

/** Uses the same problem code for a member that may be in the body or in the query, wherever it was given. */
function asParameter(fault: Fault, names: readonly string[]): Fault {
  return names.some((name) => fault.path === `/${name}`) ? { ...fault, code: 'filter_invalid' } : fault;
}

/** Returns a member of the body that the query contains instead. */
function memberOf(
  name: string,
  field: AnyField | undefined,
  body: JsonObject,
  query: JsonObject,
): readonly (readonly [string, Json])[] {
  const value = query[name];
  if (value === undefined || (body[name] ?? undefined) !== undefined) return [];
  return [[name, field?.type === 'list' ? String(value).split(',') : value]];
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const problems = limitProblems(faults.slice(0, maxProblems + 1));
  throw new InvalidInput(joinMessages(problems), { problems });
}
