import type { Json, JsonObject } from '../../lib/json.ts';
import type { Format } from './format.ts';
import type { MemberRule } from './member-rules.ts';

/**
 * Which writers may set a field, and when. `declared`: documents and requests. `createOnly`: only at creation.
 * `updateOnly`: over HTTP only in a replace. `server`: only the server; requests may send the field back without
 * effect. `document`: only documents. `key`: only documents, to distinguish the children of one parent; the field is a
 * part of the key, so stating it changes no value.
 */
export type Access = 'declared' | 'createOnly' | 'updateOnly' | 'server' | 'document' | 'key';

/** Options that fields of every type have. */
export interface FieldOptions {
  /** Documentation for users, shown in CRDs, OpenAPI and editors. */
  readonly doc: string;
  readonly access?: Access;
  /** Whether requests must contain the field. */
  readonly required?: boolean;
  /**
   * For a required field of an operation: advice that the refusal gives when the field is missing, instead of telling
   * the user to add it.
   */
  readonly missingHint?: string;
  /** Value when the field is absent. */
  readonly default?: Json;
  /**
   * For a field that is required over HTTP: its value when a document leaves it out. Its presence makes the field
   * optional in documents.
   */
  readonly documentDefault?: Json;
  /**
   * Whether a replace that leaves the field out keeps the stored value. With `true`, an empty value keeps it too; with
   * `absent`, only a missing field does.
   */
  readonly keptOnReplace?: boolean | 'absent';
  /**
   * Alternative field that this one replaces. A replace with a non-empty value for the alternative does not keep the
   * stored value of this field.
   */
  readonly alternativeField?: string;
  /**
   * Value that leaves the choice to the server. The chosen value is stored in `derived` under the field's name and
   * shown in answers. Requests may send it back, and it stays when a replace leaves the choice to the server again.
   * Top-level fields only.
   */
  readonly serverChosen?: Json;
  /** The restrictive value. Setting it is never refused; only a permitted API call can change it back. */
  readonly failsafe?: Json;
  /** Whether `true` is available only in the hosted edition. */
  readonly hostedOnly?: boolean;
  /**
   * Responses leave the member out when it is empty (`""`, `[]`, `{}`), unless it was given as empty. `always`: even
   * then, for members that exclude each other.
   */
  readonly omitEmpty?: true | 'always';
  /** Responses leave the member out while it has its default, unless that value was given explicitly. */
  readonly omitUnlessGiven?: boolean;
  /**
   * Name of the sibling switch that gives the field its meaning. When a request does not turn the switch on, the
   * field's value is ignored unchecked.
   */
  readonly enabledBy?: string;
  /** Whether a replace must contain a `createOnly` field nevertheless. Its value there changes nothing. */
  readonly echoed?: boolean;
  /** Whether answers leave the field out. */
  readonly hidden?: boolean;
  /** Whether unknown members inside are refused even over HTTP, because a typo there would open access. */
  readonly refusesUnknown?: boolean;
  /**
   * Members that responses show inside the object, as JSON Schema. Requests may send them back; they are silently
   * ignored.
   */
  readonly readOnly?: Readonly<Record<string, JsonObject>>;
  /**
   * Members that other systems support inside the object and Heddle does not, each with the value that means "off" and
   * advice on what to do instead. Requests may send that value, and answers show it to clients that sent it. Any other
   * value is refused, so that no caller believes it has enabled the setting.
   */
  readonly unsupported?: Readonly<Record<string, { readonly value: Json; readonly hint: string }>>;
  /** Names that other systems use for the field. They are refused, with a message that names the field. */
  readonly foreignNames?: readonly string[];
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
  /** Limits in documents. They must include all values that a client profile accepts, so that every export is valid. */
  readonly inDocuments?: { readonly minimum?: number; readonly maximum?: number };
  /** For a query parameter: values above `maximum` count as `maximum`. */
  readonly clamp?: true;
  readonly unit?: string;
}
interface BooleanShape {
  readonly type: 'boolean';
}
interface EnumShape {
  readonly type: 'enum';
  readonly values: readonly string[];
  /** Whether requests may write the values in upper case. */
  readonly ignoreCase?: boolean;
  /** Names that other systems use for values, each with the value. Like `foreignNames`, they are refused. */
  readonly foreignValues?: Readonly<Record<string, string>>;
}
/**
 * An ordered list that is owned as one unit, or (`set`) a sorted list without repeats whose elements are owned one by
 * one.
 */
interface ListShape {
  readonly type: 'list';
  readonly of: AnyField;
  readonly set: boolean;
  /**
   * Whether the list is owned as one unit although its order has no meaning. The kind's `canonicalize` sorts it;
   * answers show it as written.
   */
  readonly unordered?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
}
/** A list of objects, each identified by the value of `key`. The order has no meaning; each entry is one unit. */
interface KeyedShape {
  readonly type: 'keyed';
  readonly key: string;
  readonly fields: Fields;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Rules between the members of one entry. */
  readonly rules?: readonly MemberRule[];
  /** Whether each entry has a server-chosen `id`, stored in `derived`. */
  readonly ids: boolean;
}
interface ObjectShape {
  readonly type: 'object';
  readonly fields: Fields;
  /** Whether the object is owned as one unit, because its members have a meaning only together. */
  readonly atomic?: boolean;
  /** Rules between the members of the object. */
  readonly rules?: readonly MemberRule[];
  /** Name of its schema in the OpenAPI document. Absent: the schema is written inline. */
  readonly schema?: string;
}
/** A value that only a JSON Schema describes. Used by operations, not by kinds. */
interface JsonShape {
  readonly type: 'json';
  readonly schema: JsonObject;
  /** Field that documents the value. Absent: the documentation shows the checked schema. */
  readonly shownAs?: AnyField;
}
interface RefShape {
  readonly type: 'ref';
  readonly kind: string;
}
/** A set of references. `answer`: whether responses contain ids, summaries or whole objects. */
interface RefsShape {
  readonly type: 'refs';
  readonly kind: string;
  readonly answer: 'ids' | 'summaries' | 'full';
  readonly minItems?: number;
  readonly maxItems?: number;
}
/**
 * Membership: like `refs`, but each element records the origins that added it. Stored only as reference rows, not in
 * the spec.
 */
interface MembersShape {
  readonly type: 'members';
  readonly kind: string;
}
/** A reference `{id, type}` whose kind depends on `type`. */
interface TypedRefShape {
  readonly type: 'typedRef';
  readonly kinds: Readonly<Record<string, string>>;
}
/** A reference whose kind depends on the sibling member `by`. When that type has no kind, the value is plain text. */
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
  readonly maxItems?: number;
}

/**
 * A text that is stored sealed. `read`: what answers show, which is nothing (`never`), a mask, an empty text, or the
 * text itself (`shown`). A request that sends the mask back keeps the stored value.
 *
 * A `shown` text may be written literally in documents, and a rollback restores it. Plans, history, exports and logs do
 * not show it. Earlier releases stored such texts unsealed, so both forms are read; no text of its format may therefore
 * begin like a sealed text.
 */
interface SecretShape {
  readonly type: 'secret';
  readonly read: 'never' | 'masked' | 'empty' | 'shown';
  /** Returns the non-secret prefix of the text, which the mask shows. Absent: the mask shows nothing of the text. */
  visible?(text: string): string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: Format;
  /** Whether a request may also send an object of texts, which is stored as JSON. */
  readonly acceptsObject?: true;
}
/** An object with user-chosen member names. */
interface MapShape {
  readonly type: 'map';
  readonly of: AnyField;
  /** Members that are stored sealed, by name. All other members have the type `of`. */
  readonly secrets?: Readonly<Record<string, AnyField>>;
  /** Alternative spellings of member names, each with the spelling that is stored. Answers show the written one. */
  readonly keyAliases?: Readonly<Record<string, string>>;
  readonly maxItems?: number;
  /** Whether a replace changes only the members that it names. `null` removes a member. */
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

/** Static type of the canonical values of a set of fields. Fields without a default may be absent. */
export type SpecOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Optional ? never : K]: ValueOf<F[K]>;
} & { readonly [K in keyof F as F[K] extends Optional ? K : never]?: ValueOf<F[K]> };

/** Marks a field of an operation as optional. */
export interface Optional {
  readonly required: false;
}

/** Static type of the canonical value of a field. */
export type ValueOf<F> = F extends Field<infer T> ? T : never;

type Options<S> = FieldOptions & Omit<S, 'type'>;

/**
 * Default maximum lengths of names, other texts and secrets, in characters. A longer value that is already stored is
 * kept, and may be sent back.
 */
export const maxLengths = { name: 255, text: 4096, secret: 65_536 } as const;

/**
 * Usual maximum number of entries of a list or members of a map that are not references. Far more than any real object
 * has; the rules of kinds read every entry, and reading a hundred thousand would delay other requests.
 */
export const maxEntries = 1000;

/** Maximum number of references in a set. The members of a group are not limited. */
const maxReferences = 10_000;

/** Declares a text of at most 4096 characters, unless `maxLength` is set. */
export function string(options: Options<StringShape>): Field<string> {
  return { type: 'string', maxLength: maxLengths.text, ...options };
}
/** Declares a text that may be absent. */
export function optionalString(options: Options<StringShape>): Field<string | undefined> {
  return { type: 'string', maxLength: maxLengths.text, ...options };
}
/** Declares a whole number. */
export function integer(options: Options<IntegerShape>): Field<number> {
  return { type: 'integer', ...options };
}
/** Declares a boolean. */
export function boolean(options: Options<BooleanShape>): Field<boolean> {
  return { type: 'boolean', ...options };
}
/** Declares an enumeration of texts. */
export function oneOf<const V extends readonly string[]>(
  values: V,
  options: Omit<Options<EnumShape>, 'values'>,
): Field<V[number]> {
  return { type: 'enum', values, ...options };
}
/** Declares an ordered list that is owned as one unit. Default: empty. */
export function list<T>(of: Field<T>, options: Omit<Options<ListShape>, 'of' | 'set'>): Field<readonly T[]> {
  return { type: 'list', of, set: false, default: [], ...options };
}
/** Declares a set of scalars: sorted, without repeats, its elements owned one by one. Default: empty. */
export function setOf<T>(of: Field<T>, options: Omit<Options<ListShape>, 'of' | 'set'>): Field<readonly T[]> {
  return { type: 'list', of, set: true, default: [], ...options };
}
/** Declares a list of objects, each identified by one of its fields. Default: empty. */
export function keyed<F extends Fields>(
  fields: F,
  options: FieldOptions & {
    readonly key: string;
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly ids?: boolean;
    readonly rules?: readonly MemberRule[];
  },
): Field<readonly SpecOf<F>[]> {
  return { type: 'keyed', fields, default: [], ids: false, ...options };
}
/** Declares a nested object. Its members are owned one by one, unless it is `atomic`. */
export function object<F extends Fields>(fields: F, options: Options<Omit<ObjectShape, 'fields'>>): Field<SpecOf<F>> {
  return { type: 'object', fields, ...options };
}
/** Declares a value described by a JSON Schema, for operations whose value no other field type can describe. */
export function json<T extends Json = Json>(
  schema: JsonObject,
  options: FieldOptions & Pick<JsonShape, 'shownAs'>,
): Field<T> {
  return { type: 'json', schema, ...options };
}
/** Declares a reference to one object; absent when empty. */
export function ref(kind: string, options: FieldOptions): Field<string | undefined> {
  return { type: 'ref', kind, ...options };
}
/** Declares a set of at most 10,000 references to objects of one kind. Default: empty. */
export function refs(
  kind: string,
  options: FieldOptions & { readonly answer?: RefsShape['answer']; readonly minItems?: number },
): Field<readonly string[]> {
  return { type: 'refs', kind, answer: 'ids', default: [], maxItems: maxReferences, ...options };
}
/** Declares membership. Each origin owns the elements that it added. Stored as reference rows, not in the spec. */
export function members(kind: string, options: FieldOptions): Field<readonly string[]> & { readonly type: 'members' } {
  return { type: 'members', kind, default: [], ...options };
}
/** Declares a reference `{id, type}`, whose `type` selects the kind. */
export function typedRef(
  kinds: Readonly<Record<string, string>>,
  options: FieldOptions,
): Field<{ readonly id: string; readonly type: string } | undefined> {
  return { type: 'typedRef', kinds, ...options };
}
/** Declares a reference whose type is the value of the sibling member `by`. */
export function refByType(
  by: string,
  kinds: Readonly<Record<string, string>>,
  options: FieldOptions,
): Field<string | undefined> {
  return { type: 'refByType', by, kinds, ...options };
}
/** Declares an object whose member names are references. */
export function refMap<T>(
  kind: string,
  of: Field<T>,
  options: FieldOptions & Pick<RefMapShape, 'maxItems'>,
): Field<Readonly<Record<string, T>>> {
  return { type: 'refMap', kind, of, default: {}, ...options };
}

/** Declares a text that is stored sealed. Answers leave it out unless `read` is set. */
export function secret(
  options: FieldOptions & Omit<SecretShape, 'type' | 'read'> & { readonly read?: SecretShape['read'] },
): Field<string | undefined> {
  return { type: 'secret', read: 'never', ...options };
}
/** Declares an object with user-chosen member names. Default: empty. */
export function mapOf<T>(of: Field<T>, options: Omit<Options<MapShape>, 'of'>): Field<Readonly<Record<string, T>>> {
  return { type: 'map', of, default: {}, ...options };
}

/** Whether a field is an object whose members are separate units. */
export function isGranular(field: AnyField): field is Extract<AnyField, { readonly type: 'object' }> {
  return field.type === 'object' && field.atomic !== true;
}

/** Whether a value is absent, `null`, `""`, `[]` or `{}`. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
