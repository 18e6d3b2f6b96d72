import type { Json, JsonObject } from '../../lib/json.ts';
import type { Module, Operation as Right } from '../declare/roles.ts';
import { type AnyField, type Field, type Fields, type SpecOf, string } from '../schema/field.ts';
import { completed, isRequired, optional } from './fields.ts';

/**
 * Who may call an operation. `anyone`: every caller with credentials. `operator`: the operator of the server. `open`:
 * no credentials of an account are needed, and the text says how it is protected instead.
 */
type Access =
  | { readonly module: Module; readonly operation: Right; readonly own?: true }
  | 'anyone'
  | 'operator'
  | { readonly open: string };

/** How an operation can fail beside what follows from its shape, with the status. */
export const failures = {
  ...{ unauthenticated: 401, not_allowed: 403, not_found: 404, conflict: 409, gone: 410, precondition: 412 },
  ...{ invalid: 422, approval: 428 },
};

/** Bodies of several shapes, each by its JSON Schema under the value of the discriminating member. */
export interface BodyUnion {
  readonly by: string;
  readonly of: Readonly<Record<string, JsonObject>>;
  readonly doc: string;
}

/** A body of text in place of one of JSON. */
export interface TextBody {
  /** What documentation calls it. */
  readonly name: string;
  /** Its media types; the first is the one that is described. */
  readonly types: readonly string[];
  readonly example: string;
  /** The body of JSON for which it stands. */
  as(text: string): JsonObject;
}

/** A body of bytes. */
export interface BytesBody {
  /** Its media types, `*` for any. */
  readonly types: readonly string[];
  /** What is described, by media type. */
  readonly content: JsonObject;
}

interface Facts {
  /** Unique; generated clients name their functions by it. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Such as `/api/users/{userId}/tokens`. */
  readonly path: `/${string}`;
  readonly access: Access;
  /** The section of the reference; the module of its access unless given. */
  readonly tag?: string;
  readonly summary: string;
  readonly doc?: string;
  /**
   * In place of `body`: the body is one of these, distinguished by the member `by`. The feature checks it; a handler finds it in
   * the request.
   */
  readonly bodyUnion?: BodyUnion;
  /** The body may be of text too. Members that have no place there are those of `bodyInQuery`. */
  readonly textBody?: TextBody;
  /** In place of `body`: bytes, which a handler finds in the request as a `Buffer`. */
  readonly bytesBody?: BytesBody;
  /** In place of `body`: it takes a request of this kind, which its handler checks by the rules of the kind. */
  readonly requestOf?: string;
  /**
   * In place of `body`: these fields document the body, and the feature checks it by rules of its own, after it knows who sends
   * it; a handler finds it in the request.
   */
  readonly uncheckedBody?: Fields;
  /** Parameters of the request beside those that follow from its shape, by their names among the shared ones. */
  readonly parameters?: readonly string[];
  /** `If-Match` says which version of the object it is about; the handler looks at it. */
  readonly ifMatch?: true;
  /** The body may be left out, which is as if it were `{}`. */
  readonly optionalBody?: true;
  /** Status of success, 200 unless given. */
  readonly status?: 201 | 202;
  /** Headers of the answer beside those that follow from its shape. */
  readonly headers?: readonly string[];
  readonly errors?: readonly (keyof typeof failures)[];
  /**
   * Media type of an answer that is not JSON: `answer` is a string then, which is sent as it is. What is made while it is sent,
   * such as a stream of events or an archive, is sent by the handler.
   */
  readonly answerType?: string;
  /** Media types in which callers may have the answer instead, with an example of each. The handler sends it in these. */
  readonly alsoAs?: Readonly<Record<string, string>>;
  /** No cache may keep the answer. */
  readonly noStore?: true;
  /** What is read carries no ETag, because it is sent while it is made. */
  readonly uncached?: true;
  /** Reading takes it away, and a later read is 410: so there is no HEAD, no ETag, and no copy in a cache. */
  readonly readOnce?: true;
  /** A GET that starts something: there is no HEAD, and a token that may only plan will not do. */
  readonly starts?: true;
  /** It writes nothing but plans, whatever its method: a token that may only plan will do. */
  readonly plans?: true;
  /** The name of the schema of the body; from the `id` unless given. Operations that take the same share it. */
  readonly bodySchema?: string;
  /** What that schema says of the body as a whole. */
  readonly bodyDoc?: string;
  /**
   * The member of the answer that is shown this once: no cache keeps an answer with it. A repetition after a day shows a mask in
   * place of a text, and is without any other value.
   */
  readonly shownOnce?: string;
  /** Only this edition has it. */
  readonly edition?: 'hosted';
  /** Only this profile has it. */
  readonly profile?: 'compatible';
  /** Parameters of the path need one when the document contains no object that they could name. */
  readonly example: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string | number>>;
    readonly body?: Json;
    readonly answer?: Json;
  };
}

/** What a declaration says. Fields are required unless they are `optional()` or have a default. */
interface Declaration<P extends Fields, Q extends Fields, B extends Fields, A> extends Facts {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Members of the body that may stand in the query instead; the body wins. */
  readonly bodyInQuery?: readonly (keyof B & string)[];
  /** Absent: the answer has no body. */
  readonly answer?: Field<A>;
}

/** One declared operation of the interface: its route, validation, description, rights and client derive from it. */
export interface Operation<P extends Fields = Fields, Q extends Fields = Fields, B extends Fields = Fields, A = unknown>
  extends Facts {
  readonly params: P;
  readonly query: Q;
  /** Absent: it takes no body. */
  readonly body: B | undefined;
  readonly bodyInQuery?: readonly string[];
  readonly answer: Field<A> | undefined;
}

/** The operations of an area, by the names under which handlers and clients refer to them. */
export type Area = Readonly<Record<string, Operation>>;

type None = Readonly<Record<never, AnyField>>;

/** Declares an operation. Throws a defect of the declaration: path and parameters that do not fit. */
export function defineOperation<P extends Fields = None, Q extends Fields = None, B extends Fields = None, A = void>(
  declared: Declaration<P, Q, B, A>,
): Operation<P, Q, B, A> {
  const { params, query, body, answer, ...facts } = declared;
  const named = [...declared.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (
    named.sort().join() !==
    Object.keys(params ?? {})
      .sort()
      .join()
  )
    throw new Error(`${declared.id}: \`params\` must name what stands in ${declared.path}`);
  return {
    ...facts,
    // Absent, the type is that of no fields.
    params: (params ?? {}) as P,
    query: { ...membersInQuery(declared, body ?? {}, declared.bodyInQuery ?? []), ...query } as Q,
    body: body === undefined ? undefined : completed(body),
    answer,
  };
}

/** The parameters of a query that stand for members of the body. */
function membersInQuery({ textBody }: Facts, body: Fields, names: readonly string[]): Fields {
  const entries = names.map((name) => [name, parameterOf(name, body[name], textBody?.name)] as const);
  return Object.fromEntries(entries);
}

function parameterOf(name: string, member: AnyField | undefined, textBody: string | undefined): AnyField {
  if (member === undefined) throw new Error(`the body has no member ${name} that could stand in the query`);
  const needs = isRequired(member) ? ', which needs it' : '';
  const doc =
    textBody === undefined
      ? `As \`${name}\` of the body`
      : `For a ${textBody} body${needs}: as \`${name}\` of a JSON body`;
  if (member.type === 'list') return optional(string({ doc: `${doc}, with commas between.` }));
  return optional({ ...member, doc: `${doc}.` });
}

/** Whether answers carry an ETag: what is read does, by which it is not sent again. */
export function hasEtag({ method, answer, uncached, readOnce }: Operation): boolean {
  return method === 'GET' && answer !== undefined && uncached !== true && readOnce !== true;
}

/** What a caller of an operation gives. */
export interface InputOf<O extends Operation> {
  readonly params: SpecOf<O['params']>;
  readonly query: SpecOf<O['query']>;
  readonly body: SpecOf<NonNullable<O['body']>>;
}

/** What an operation answers. */
export type AnswerOf<O extends Operation> = O extends Operation<Fields, Fields, Fields, infer A> ? A : never;
