import type { Json, JsonObject } from '../../lib/json.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { MemberRule } from './member-rules.ts';

/**
 * Who writes a field, and when. `declared`: documents and requests. `createOnly`: at creation, never again.
 * `updateOnly`: over HTTP only in a replace. `server`: the server alone; requests may send it back, which changes
 * nothing. `document`: documents alone. `key`: documents alone, to distinguish the children of one parent; it is a part
 * of the key, so stating it changes no value.
 */
export type Access = 'declared' | 'createOnly' | 'updateOnly' | 'server' | 'document' | 'key';

/** What a format may be called: a text without it is the problem `<name>_invalid`. */
export type FormatName = NameIn<ProblemCode>;

type NameIn<Code> = Code extends `${infer Name}_invalid` ? Name : never;

/** A scalar text form with one canonical spelling, such as a CIDR or a domain. */
export interface Format {
  readonly name: FormatName;
  /** The name by which JSON Schema knows it, if it does. */
  readonly jsonFormat?: 'date-time';
  /** What every text of the format matches from end to end, in the regular expressions that RE2 and JavaScript share. */
  readonly pattern?: string;
  /** The canonical spelling, or what is wrong with the text and how to mend it. */
  canonical(text: string): { readonly value: string } | { readonly fault: string };
}

/** What every field can say about itself, whatever its type. */
export interface FieldOptions {
  /** Documentation for users; shown in CRDs, OpenAPI and editors. */
  readonly doc: string;
  readonly access?: Access;
  /** Requests must carry it. */
  readonly required?: boolean;
  /** Of an operation's required field: what to do where it is missing, in place of adding it. */
  readonly missing?: string;
  /** The value of an absent field. */
  readonly default?: Json;
  /** For a field required over HTTP: the value when a document leaves it out (its presence makes it optional there). */
  readonly documentDefault?: Json;
  /** A replace that leaves the field out keeps the stored value; one that gives an empty value too, unless only `absent` keeps. */
  readonly keep?: boolean | 'absent';
  /** The field in whose place this one stands: a replace that gives that one does not keep this one. */
  readonly insteadOf?: string;
  /**
   * The value that leaves the choice to the server. What it chose stands in `derived` under the field's name, is what
   * answers show, may be sent back, and stays when a replace leaves the choice to the server again. Top-level fields only.
   */
  readonly serverChosen?: Json;
  /** The restrictive value: setting it is never refused, and only a permitted call clears it. */
  readonly failsafe?: Json;
  /** `true` exists in the hosted edition alone. */
  readonly cloudOnly?: boolean;
  /**
   * Responses leave the member out when it is empty (`""`, `[]`, `{}`), unless it was given so; `always`: then too, for members
   * of which one excludes the other.
   */
  readonly omitEmpty?: true | 'always';
  /** Responses leave the member out while it has its default, unless it was given that value. */
  readonly asGiven?: boolean;
  /** The switch beside the field without which it means nothing: requests that do not turn it on may say here what they like. */
  readonly onlyWith?: string;
  /** A replace must carry what only creation writes all the same; what it says there changes nothing. */
  readonly echoed?: boolean;
  /** Answers do not show it. */
  readonly hidden?: boolean;
  /** Unknown members inside are refused even over HTTP, because a typo there opens access. */
  readonly closed?: boolean;
  /** Members that responses show inside, by JSON Schema. Requests may send them back: they are ignored without a word. */
  readonly readOnly?: Readonly<Record<string, JsonObject>>;
  /**
   * Members that other systems have inside and this one has not, with the value that says so and what to do instead.
   * Requests may give that value; any other is refused, so that no caller believes to have switched something on.
   */
  readonly lacking?: Readonly<Record<string, { readonly value: Json; readonly hint: string }>>;
  /** Names by which other systems know the field; a request that uses one is refused with the right name. */
  readonly formerly?: readonly string[];
}

interface StringShape {
  readonly type: 'string';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: Format;
}
interface IntegerShape {
  readonly type: 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of a query: what is greater than `maximum` counts as it. */
  readonly clamp?: true;
  readonly unit?: string;
}
interface BooleanShape {
  readonly type: 'boolean';
}
interface EnumShape {
  readonly type: 'enum';
  readonly values: readonly string[];
  /** Requests may write the words in upper case. */
  readonly ignoreCase?: boolean;
}
/** An ordered list owned as one piece, or (`set`) a sorted list without repeats, owned element by element. */
interface ListShape {
  readonly type: 'list';
  readonly of: AnyField;
  readonly set: boolean;
  /** Owned as one piece, but its order means nothing: the kind's `canonicalize` sorts it, and answers show it as written. */
  readonly anyOrder?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
}
/** A list of objects, each known by the value of `key`; order does not matter; each entry is one unit. */
interface KeyedShape {
  readonly type: 'keyed';
  readonly key: string;
  readonly fields: Fields;
  readonly minItems?: number;
  /** What the members of one entry must not contradict. */
  readonly rules?: readonly MemberRule[];
  /** Entries carry a server-chosen `id` that lives in `derived`. */
  readonly ids: boolean;
}
interface ObjectShape {
  readonly type: 'object';
  readonly fields: Fields;
  /** Owned as one piece, because its members mean something only together. */
  readonly whole?: boolean;
  /** What its members must not contradict. */
  readonly rules?: readonly MemberRule[];
  /** Its name among the schemas of the OpenAPI document; absent: it is described in place. */
  readonly schema?: string;
}
/** A value that only a JSON Schema describes: of an operation, not of a kind. */
interface JsonShape {
  readonly type: 'json';
  readonly schema: JsonObject;
  /** How it is documented, when that is more than is checked. */
  readonly shownAs?: AnyField;
}
interface RefShape {
  readonly type: 'ref';
  readonly kind: string;
}
/** A set of references. `answer` says whether responses carry ids, summaries or the objects themselves. */
interface RefsShape {
  readonly type: 'refs';
  readonly kind: string;
  readonly answer: 'ids' | 'summaries' | 'full';
  readonly minItems?: number;
}
/** Membership: like `refs`, but every element keeps the origins that put it there, and only reference rows store it. */
interface MembersShape {
  readonly type: 'members';
  readonly kind: string;
}
/** A reference `{id, type}` whose kind follows from `type`. */
interface TypedRefShape {
  readonly type: 'typedRef';
  readonly kinds: Readonly<Record<string, string>>;
}
/** A reference whose kind follows from the member `by` beside it. Under a type without a kind it is a mere text. */
interface RefByTypeShape {
  readonly type: 'refByType';
  readonly by: string;
  readonly kinds: Readonly<Record<string, string>>;
}
/** An object whose member names are references. */
interface RefMapShape {
  readonly type: 'refMap';
  readonly kind: string;
  readonly of: AnyField;
}

/**
 * A text that is kept sealed. `read` says what answers show: nothing at all, a mask, an empty text, or the text itself
 * (`shown`). A request that sends the mask back keeps the stored value.
 *
 * What is `shown` may stand in documents as it is, and a rollback brings it back; plans, history, exports and logs do not
 * show it. Earlier releases kept such texts as they are, so that both are read: no text of its format may begin like a
 * sealed one.
 */
interface SecretShape {
  readonly type: 'secret';
  readonly read: 'never' | 'masked' | 'empty' | 'shown';
  /** The beginning of a text that its mask shows, because it is no secret; nothing unless it is given. */
  visible?(text: string): string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: Format;
  /** A request may send an object of texts too, which is kept as its JSON. */
  readonly asJson?: true;
}
/** An object with names of the user's choice. */
interface MapShape {
  readonly type: 'map';
  readonly of: AnyField;
  /** The members that are kept sealed, by name; all others are as `of` says. */
  readonly secrets?: Readonly<Record<string, AnyField>>;
  /** Other spellings of member names, and the one that is kept. */
  readonly otherSpellings?: Readonly<Record<string, string>>;
  readonly maxItems?: number;
  /** A replace changes the members that it names and leaves the others; `null` takes one out. */
  readonly merge?: boolean;
}

export type Shape =
  | SecretShape
  | MapShape
  | StringShape
  | IntegerShape
  | BooleanShape
  | EnumShape
  | ListShape
  | KeyedShape
  | ObjectShape
  | JsonShape
  | RefShape
  | RefsShape
  | MembersShape
  | TypedRefShape
  | RefByTypeShape
  | RefMapShape;

/** One declared field. `T` is the static type of its canonical value. */
export type Field<T = unknown> = FieldOptions & Shape & { readonly value?: T };
export type AnyField = Field<unknown>;
export type Fields = { readonly [name: string]: AnyField };

/** The canonical value of a set of fields; a field without default may be absent. */
export type SpecOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Optional ? never : K]: ValueOf<F[K]>;
} & { readonly [K in keyof F as F[K] extends Optional ? K : never]?: ValueOf<F[K]> };

/** Marks a field of an operation that may be absent. */
export interface Optional {
  readonly required: false;
}

/** The canonical value of a field. */
export type ValueOf<F> = F extends Field<infer T> ? T : never;

type Options<S> = FieldOptions & Omit<S, 'type'>;

/** How long names may be, texts that say nothing else, and secrets. A stored longer text stays, and may be sent back. */
export const longest = { name: 255, text: 4096, secret: 65_536 } as const;

/** Text. */
export function string(options: Options<StringShape>): Field<string> {
  return { type: 'string', maxLength: longest.text, ...options };
}
/** Text that may be absent. */
export function optionalString(options: Options<StringShape>): Field<string | undefined> {
  return { type: 'string', maxLength: longest.text, ...options };
}
/** A whole number. */
export function integer(options: Options<IntegerShape>): Field<number> {
  return { type: 'integer', ...options };
}
/** True or false. */
export function boolean(options: Options<BooleanShape>): Field<boolean> {
  return { type: 'boolean', ...options };
}
/** One of a few words. */
export function oneOf<const V extends readonly string[]>(
  values: V,
  options: FieldOptions & { readonly ignoreCase?: boolean },
): Field<V[number]> {
  return { type: 'enum', values, ...options };
}
/** An ordered list, owned as one piece. */
export function list<T>(of: Field<T>, options: Omit<Options<ListShape>, 'of' | 'set'>): Field<readonly T[]> {
  return { type: 'list', of, set: false, default: [], ...options };
}
/** A set of scalars: sorted, without repeats, owned element by element. */
export function setOf<T>(of: Field<T>, options: Omit<Options<ListShape>, 'of' | 'set'>): Field<readonly T[]> {
  return { type: 'list', of, set: true, default: [], ...options };
}
/** A list of objects known by the value of one of their fields. */
export function keyed<F extends Fields>(
  fields: F,
  options: FieldOptions & {
    readonly key: string;
    readonly minItems?: number;
    readonly ids?: boolean;
    readonly rules?: readonly MemberRule[];
  },
): Field<readonly SpecOf<F>[]> {
  return { type: 'keyed', fields, default: [], ids: false, ...options };
}
/** A nested object whose members are owned one by one, unless it is `whole`. */
export function object<F extends Fields>(fields: F, options: Options<Omit<ObjectShape, 'fields'>>): Field<SpecOf<F>> {
  return { type: 'object', fields, ...options };
}
/** A value that a JSON Schema describes, where no other field can. */
export function json<T extends Json = Json>(
  schema: JsonObject,
  options: FieldOptions & Pick<JsonShape, 'shownAs'>,
): Field<T> {
  return { type: 'json', schema, ...options };
}
/** A reference to one object, absent when empty. */
export function ref(kind: string, options: FieldOptions): Field<string | undefined> {
  return { type: 'ref', kind, ...options };
}
/** A set of references to objects of one kind. */
export function refs(
  kind: string,
  options: FieldOptions & { readonly answer?: RefsShape['answer']; readonly minItems?: number },
): Field<readonly string[]> {
  return { type: 'refs', kind, answer: 'ids', default: [], ...options };
}
/** Membership whose elements several origins keep, each its own. Stored beside the spec. */
export function members(kind: string, options: FieldOptions): Field<readonly string[]> & { readonly type: 'members' } {
  return { type: 'members', kind, default: [], ...options };
}
/** A reference that states its type beside its id. */
export function typedRef(
  kinds: Readonly<Record<string, string>>,
  options: FieldOptions,
): Field<{ readonly id: string; readonly type: string } | undefined> {
  return { type: 'typedRef', kinds, ...options };
}
/** A reference whose type stands in the member `by` beside it. */
export function refByType(
  by: string,
  kinds: Readonly<Record<string, string>>,
  options: FieldOptions,
): Field<string | undefined> {
  return { type: 'refByType', by, kinds, ...options };
}
/** An object from references to values. */
export function refMap<T>(kind: string, of: Field<T>, options: FieldOptions): Field<Readonly<Record<string, T>>> {
  return { type: 'refMap', kind, of, default: {}, ...options };
}

/** A text that is kept sealed. */
export function secret(
  options: FieldOptions & Omit<SecretShape, 'type' | 'read'> & { readonly read?: SecretShape['read'] },
): Field<string | undefined> {
  return { type: 'secret', read: 'never', ...options };
}
/** An object with names of the user's choice. */
export function mapOf<T>(of: Field<T>, options: Omit<Options<MapShape>, 'of'>): Field<Readonly<Record<string, T>>> {
  return { type: 'map', of, default: {}, ...options };
}

/** Whether a field is an object whose members are units of their own. */
export function isDivided(field: AnyField): field is Extract<AnyField, { readonly type: 'object' }> {
  return field.type === 'object' && field.whole !== true;
}

const entries = new WeakMap<Fields, readonly (readonly [string, AnyField])[]>();

/** The fields of a map with their names, in declared order; declarations are never edited, so they are listed once. */
export function entriesOf(fields: Fields): readonly (readonly [string, AnyField])[] {
  const known = entries.get(fields);
  if (known !== undefined) return known;
  const listed = Object.entries(fields);
  entries.set(fields, listed);
  return listed;
}

/**
 * Finds the fields of a map that are of some types, or have such fields inside; declarations are never edited, so that
 * each map is looked through once. Most values of a spec are none of what a walk through it looks for.
 */
export function createFieldFinder(isSought: (field: AnyField) => boolean): (fields: Fields) => ReadonlySet<string> {
  const known = new WeakMap<Fields, ReadonlySet<string>>();
  const holds = (field: AnyField): boolean => {
    if (isSought(field)) return true;
    if (field.type === 'list') return holds(field.of);
    return (field.type === 'keyed' || field.type === 'object') && find(field.fields).size > 0;
  };
  const find = (fields: Fields): ReadonlySet<string> => {
    const present = known.get(fields);
    if (present !== undefined) return present;
    const found = new Set(entriesOf(fields).flatMap(([name, field]) => (holds(field) ? [name] : [])));
    known.set(fields, found);
    return found;
  };
  return find;
}

/** Whether a value says nothing: absent, `null`, `""`, `[]` or `{}`. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
