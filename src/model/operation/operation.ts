import type { Json, JsonObject } from '../../lib/json.ts';
import type { Module, Operation as Right } from '../declare/roles.ts';
import { type AnyField, type Field, type Fields, type SpecOf, string } from '../schema/field.ts';
import { isRequired, optional, withRequired } from './fields.ts';

/**
 * Who may call an operation. `anyone`: every caller with credentials. `operator`: the operator of the server. `open`:
 * callers without credentials of an account; the text describes how the operation is protected instead.
 */
type Access =
  | { readonly module: Module; readonly operation: Right; readonly own?: true }
  | 'anyone'
  | 'operator'
  | { readonly open: string };

/** Failures that an operation can declare in addition to those that follow from its shape, with their HTTP statuses. */
export const failures = {
  ...{ unauthenticated: 401, not_allowed: 403, not_found: 404, conflict: 409, gone: 410, precondition: 412 },
  ...{ invalid: 422, approval: 428 },
};

/** A body with several shapes: a JSON Schema for each value of the discriminating member `by`. */
export interface BodyUnion {
  readonly by: string;
  readonly of: Readonly<Record<string, JsonObject>>;
  readonly doc: string;
}

/** A text body that is accepted instead of a JSON body. */
export interface TextBody {
  /** Name of the format in documentation. */
  readonly name: string;
  /** Accepted media types. The first one is documented. */
  readonly types: readonly string[];
  readonly example: string;
  /** Converts the text to the equivalent JSON body. */
  toJson(text: string): JsonObject;
}

/** A binary body. */
export interface BytesBody {
  /** Accepted media types; `*` for any. */
  readonly types: readonly string[];
  /** OpenAPI description of the body, by media type. */
  readonly content: JsonObject;
}

interface OperationFacts {
  /** Unique id, from which generated clients derive function names. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path template, such as `/api/users/{userId}/tokens`. */
  readonly path: `/${string}`;
  readonly access: Access;
  /** Section of the API reference. Default: the module of `access`. */
  readonly tag?: string;
  readonly summary: string;
  readonly doc?: string;
  /**
   * Used instead of `body` for a body of several shapes, distinguished by the member `by`. The feature checks it; the
   * handler reads it from the request.
   */
  readonly bodyUnion?: BodyUnion;
  /**
   * Set when a text body is accepted too. The members for which a text has no place are the query parameters in
   * `bodyInQuery`.
   */
  readonly textBody?: TextBody;
  /** Used instead of `body` for a binary body, which the handler reads from the request as a `Buffer`. */
  readonly bytesBody?: BytesBody;
  /** Used instead of `body` for a request of this kind. The handler checks it by the rules of the kind. */
  readonly requestOf?: string;
  /**
   * Used instead of `body` for a body that these fields only document. The feature checks it by its own rules after it
   * knows the sender; the handler reads it from the request.
   */
  readonly uncheckedBody?: Fields;
  /** Names of shared parameters, in addition to the parameters that follow from the operation's shape. */
  readonly parameters?: readonly string[];
  /** Set when the operation accepts `If-Match` with the version of the object. The handler checks it. */
  readonly ifMatch?: true;
  /** Set when the body may be omitted. It then counts as `{}`. */
  readonly optionalBody?: true;
  /** HTTP status of success. Default: 200. */
  readonly status?: 201 | 202;
  /** Response headers, in addition to the headers that follow from the operation's shape. */
  readonly headers?: readonly string[];
  readonly errors?: readonly (keyof typeof failures)[];
  /**
   * Media type of an answer that is not JSON. `answer` is then a string that is sent unchanged. The handler itself
   * sends an answer that is created during sending, such as an event stream or an archive.
   */
  readonly answerType?: string;
  /** Other media types that callers may request for the answer, each with an example. The handler sends them. */
  readonly otherMediaTypes?: Readonly<Record<string, string>>;
  /** Set when no cache may store the answer. */
  readonly noStore?: true;
  /** Set when the answer has no ETag, because it is sent while it is created. */
  readonly withoutEtag?: true;
  /** Set when reading deletes the value, so that a later read answers 410. There is no HEAD, no ETag and no caching. */
  readonly readOnce?: true;
  /** Set for a GET that starts something. There is no HEAD, and a plan-only token is refused. */
  readonly hasSideEffects?: true;
  /** Set when the operation writes only plans, whatever its method. A plan-only token is accepted. */
  readonly plans?: true;
  /** Name of the body's schema. Default: derived from `id`. Operations with the same body share a schema. */
  readonly bodySchema?: string;
  /** Description of the body's schema. */
  readonly bodyDoc?: string;
  /**
   * Member of the answer that is shown only once. Caches must not store an answer that contains it. When the request is
   * repeated after a day, the answer shows a mask instead of a text, and omits any other value.
   */
  readonly shownOnce?: string;
  /** Set when only the hosted edition has the operation. */
  readonly edition?: 'hosted';
  /** Set when only the compatible profile has the operation. */
  readonly profile?: 'compatible';
  /**
   * Examples for documentation. A path parameter needs one when no object in the OpenAPI document could provide its
   * value.
   */
  readonly example: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string | number>>;
    readonly body?: Json;
    readonly answer?: Json;
  };
}

/** Declaration of an operation. Fields are required unless they are `optional()` or have a default. */
interface Declaration<P extends Fields, Q extends Fields, B extends Fields, A> extends OperationFacts {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Members of the body that may be given as query parameters instead. The body takes precedence. */
  readonly bodyInQuery?: readonly (keyof B & string)[];
  /** Absent: the answer has no body. */
  readonly answer?: Field<A>;
}

/** A declared operation of the API. Its route, validation, description, rights and client are derived from it. */
export interface Operation<P extends Fields = Fields, Q extends Fields = Fields, B extends Fields = Fields, A = unknown>
  extends OperationFacts {
  readonly params: P;
  readonly query: Q;
  /** Absent: the operation has no body. */
  readonly body: B | undefined;
  readonly bodyInQuery?: readonly string[];
  readonly answer: Field<A> | undefined;
}

/** Operations of an area, by the names with which handlers and clients refer to them. */
export type Area = Readonly<Record<string, Operation>>;

type NoFields = Readonly<Record<never, AnyField>>;

/** Declares an operation. Throws when the path and `params` do not match. */
export function defineOperation<
  P extends Fields = NoFields,
  Q extends Fields = NoFields,
  B extends Fields = NoFields,
  A = void,
>(declared: Declaration<P, Q, B, A>): Operation<P, Q, B, A> {
  const { params, query, body, answer, ...facts } = declared;
  const named = [...declared.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (
    named.sort().join() !==
    Object.keys(params ?? {})
      .sort()
      .join()
  )
    throw new Error(`${declared.id}: \`params\` must name the placeholders of ${declared.path}`);
  return {
    ...facts,
    // Without parameters, the type is that of an empty record.
    params: (params ?? {}) as P,
    query: { ...membersInQuery(declared, body ?? {}, declared.bodyInQuery ?? []), ...query } as Q,
    body: body === undefined ? undefined : withRequired(body),
    answer,
  };
}

/** Returns the query parameters that may be given instead of members of the body. */
function membersInQuery({ textBody }: OperationFacts, body: Fields, names: readonly string[]): Fields {
  const entries = names.map((name) => [name, parameterOf(name, body[name], textBody?.name)] as const);
  return Object.fromEntries(entries);
}

function parameterOf(name: string, member: AnyField | undefined, textBody: string | undefined): AnyField {
  if (member === undefined) throw new Error(`the body has no member ${name} to accept in the query`);
  const needs = isRequired(member) ? ', where it is required' : '';
  const doc =
    textBody === undefined
      ? `As \`${name}\` of the body`
      : `For a ${textBody} body${needs}: as \`${name}\` of a JSON body`;
  if (member.type === 'list') return optional(string({ doc: `${doc}, separated by commas.` }));
  return optional({ ...member, doc: `${doc}.` });
}

/** Checks whether answers have an ETag, which lets the server answer 304. Only answers to a GET have one. */
export function hasEtag({ method, answer, withoutEtag, readOnce }: Operation): boolean {
  return method === 'GET' && answer !== undefined && withoutEtag !== true && readOnce !== true;
}

/** Input that a caller passes to an operation. */
export interface InputOf<O extends Operation> {
  readonly params: SpecOf<O['params']>;
  readonly query: SpecOf<O['query']>;
  readonly body: SpecOf<NonNullable<O['body']>>;
}

/** Type of an operation's answer. */
export type AnswerOf<O extends Operation> = O extends Operation<Fields, Fields, Fields, infer A> ? A : never;
