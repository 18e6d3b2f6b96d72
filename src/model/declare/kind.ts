import type { Json, JsonObject } from '../../lib/json.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { Fields, SpecOf } from '../schema/field.ts';
import { brokenRules, containRules, type MemberRule } from '../schema/member-rules.ts';
import type { StoredObject } from '../state/object.ts';
import type { ObservationLookup } from '../state/observed.ts';
import type { FieldNameOf, KindName, KindTypes, ObjectOf } from '../state/stored.ts';
import type { ActivityCode } from './activities.ts';
import type { Installation } from './installation.ts';
import type { DerivedChange, Mutation, ObjectChange } from './mutation.ts';

/** The objects of one account at one moment, as rules, computed members and planners read them. */
export interface State {
  readonly account: string;
  get(id: string): StoredObject | undefined;
  /** Returns the object with this id if it is of this kind. */
  find<Name extends string>(kind: Name, id: string): ObjectOf<Name> | undefined;
  ofKind<Name extends string>(kind: Name): readonly ObjectOf<Name>[];
  countOf(kind: string): number;
  childrenOf<Name extends string>(parent: string, kind: Name): readonly ObjectOf<Name>[];
  /** Returns the objects whose declared index `index` contains this value. */
  lookUp<Name extends string>(kind: Name, index: string, value: string): readonly ObjectOf<Name>[];
  /** Returns the object that has a unique value, if any. */
  findByUnique<Name extends string>(kind: Name, rule: string, value: string): ObjectOf<Name> | undefined;
  /** Returns the objects that reference this one, each with the referencing field. */
  referrersOf(id: string): readonly { readonly from: StoredObject; readonly field: string }[];
  /** Returns the objects of a kind that reference this one in a field. */
  referrersBy<Name extends string>(kind: Name, field: FieldNameOf<Name>, id: string): readonly ObjectOf<Name>[];
  /** Returns how many objects of a kind reference this one in a field, without building the list. */
  countReferrers<Name extends string>(id: string, kind: Name, field: FieldNameOf<Name>): number;
  /** Time of the view, in ISO 8601. Set for answers of kinds that vary. */
  readonly now?: string;
  /** Id of the user who views the state. Set for answers of kinds that vary. */
  readonly viewer?: string;
  /** Returns to how many peers a peer may open a connection. Set for lists of kinds that show the number. */
  countAccessible?(peer: string): number;
  /**
   * Returns why endpoint security blocks a peer, or `undefined` when it does not. Set for answers of kinds whose peers
   * are observed.
   */
  disapproval?(peer: string): string | undefined;
  /** Current observations about objects. Set for answers of kinds that are `observed`. */
  readonly observed?: ObservationLookup;
}

/** A broken rule. `path` is a JSON pointer into the spec. */
export interface Fault {
  readonly code: ProblemCode;
  readonly path: string;
  readonly message: string;
}

/** A member of responses that the server computes. */
export type Computed<O = StoredObject> = {
  readonly doc: string;
  /** JSON Schema of the value, for OpenAPI. */
  readonly schema: JsonObject;
  /**
   * Set for a value that comes from `State.countAccessible`, which needs the access between all peers of the account.
   * The value is shown in lists, not in the answer about a single object.
   */
  readonly countsAccess?: true;
} & (
  | { readonly optional?: never; value(object: O, state: State): Json }
  /** Responses leave the member out when the value is `undefined`. */
  | { readonly optional: true; value(object: O, state: State): Json | undefined }
);

export type InUseReason = 'linked' | 'in_use' | 'precondition';

/** A value that at most one object of the kind may have. `path` and `message` are those of the refusal. */
export interface UniqueRule<O = StoredObject> {
  value(object: O): string | undefined;
  readonly path: string;
  message(value: string): string;
}

export type Verb = 'list' | 'create' | 'read' | 'replace' | 'delete';

export interface Parent {
  readonly kind: string;
  /** Field that references the parent in a standalone document. */
  readonly field: string;
  /**
   * Member of the parent's documents and answers that contains these children. Absent: the parent does not show them.
   */
  readonly inline?: string;
  /** Set when the parent cannot be deleted while it has such children. Absent: they are deleted with it. */
  readonly holds?: true;
  /** Whether the parent's answer shows the children as objects (the default) or as ids. */
  readonly answer?: 'objects' | 'ids';
}

/** An event to record in the audit log. */
export interface AuditEvent {
  readonly code: ActivityCode;
  readonly target?: string;
  readonly meta: Readonly<Record<string, string>>;
}

/** Members of an object, or keys of a map, in one variant. */
export interface Variant {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Members of other variants that may be given if they are empty. */
  readonly empty?: readonly string[];
}

/** A member whose content depends on the value of another member. */
export interface Variants {
  /** Name of the member whose value selects the variant. */
  readonly by: string;
  /** Name of the object or map that depends on it. */
  readonly member: string;
  /** Variants, by value of `by`. */
  readonly of: Readonly<Record<string, Variant>>;
}

/** Activity codes of create, update and delete. An operation without a code is not recorded. */
export interface ActivityCodes {
  readonly create?: ActivityCode;
  readonly update?: ActivityCode;
  readonly delete?: ActivityCode;
}

/** A query parameter that filters a list. */
export interface Filter<O = StoredObject> {
  readonly doc: string;
  matches(object: O, value: string, state: State): boolean;
  /** Returns what is wrong with a value that cannot match any object. The request is then refused with this message. */
  fault?(value: string): string | undefined;
  /** JSON Schema of the parameter. Default: a string. */
  readonly schema?: JsonObject;
}

/** Inputs for generating the values of a new object. */
export interface GeneratorInput {
  /** Current time, in ISO 8601, UTC. */
  readonly now: string;
  random(bytes: number): Uint8Array;
}

/** Values that the server generated: `derived` is stored, `outputs` is shown once, in the answer to the creation. */
export interface GeneratedValues {
  readonly derived: JsonObject;
  readonly outputs?: Readonly<Record<string, string>>;
}

/** How generated values that expire are replaced. */
export interface Renewal<O = StoredObject> {
  /**
   * Returns the lifetime of the values from their generation, in seconds. Returns `undefined` when the spec does not
   * set one.
   */
  lifetime(spec: JsonObject): number | undefined;
  /** Returns when the values expire, in ISO 8601. Returns `undefined` when they need not be replaced. */
  expires(object: O): string | undefined;
  /** Generates the replacement. The previous values may keep working until they expire. */
  renew(object: O, input: GeneratorInput): GeneratedValues;
}

/** A resource type, declared once. Everything that the program knows about a kind comes from its declaration. */
export interface KindDeclaration<
  F extends Fields = Fields,
  Name extends string = string,
  O extends StoredObject = StoredObject,
  Example = JsonObject,
> {
  readonly name: Name;
  readonly doc: string;
  /** REST collection path, with `{zoneId}` for the id of a parent. Absent: the kind has no endpoints. */
  readonly path?: string;
  /** Name of the id parameter in the path, such as `groupId`. */
  readonly idParameter?: string;
  /** Set when ids are integers, counted per account and kind. Absent: ids are opaque strings. */
  readonly ids?: 'integer';
  /** Name of the unique rule whose value identifies an object in paths, instead of its id. */
  readonly addressedBy?: string;
  /** Whether there is at most one object, addressed by the path itself, without an id. */
  readonly single?: boolean;
  /** Whether the single object always exists. Until it is written, it has the default values. */
  readonly alwaysExists?: boolean;
  /** Whether answers depend on the time or on the caller (`State.now`, `State.viewer`), so that they are not cached. */
  readonly dependsOnView?: boolean;
  /**
   * Whose observations answers show (`State.observed`): what peers or proxies report, when users sign in, when
   * integrations last provisioned something. Observations are not part of the object or of a revision.
   */
  readonly observed?: 'peers' | 'proxies' | 'people' | 'integrations';
  /** Path that lists all objects of a child kind, of all parents. */
  readonly listPath?: string;
  /** Other collection paths for the same objects. */
  readonly aliasPaths?: readonly string[];
  /**
   * Removes values from the body of a replace that answers show although they are not stored. A client that sends them
   * back unchanged does not state them.
   */
  dropEchoes?(body: JsonObject, object: O, state: State): JsonObject;
  /** Whether a replace keeps the members that the body omits. */
  readonly merge?: boolean;
  /** Set when a delete answers `{}` (`object`) or 204 (`no_content`). Absent: 200 with an empty body. */
  readonly deleteReply?: 'object' | 'no_content';
  /** Returns entries that are added to the end of lists and are not objects. */
  extraListEntries?(state: State): readonly JsonObject[];
  /** Set when the kind exists in the hosted edition only. */
  readonly edition?: 'hosted';
  readonly verbs?: readonly Verb[];
  /** Module of the role matrix that decides who may read and change objects of this kind. */
  readonly module: string;
  /** Whether documents of this kind exist, and why not. */
  readonly document:
    | {
        readonly allowed: true;
        /** Set when documents can only state objects that already exist, and never create one. */
        readonly creates?: false;
        /** Short name of the resource for `kubectl`. */
        readonly shortName?: string;
      }
    | { readonly allowed: false; readonly why: string };
  /** Set when there is exactly one object. The value is its key in documents. */
  readonly singleton?: string;
  readonly parent?: Parent;
  readonly spec: F;
  /** Members of request bodies that are not stored. They only control derived changes (`ObjectChange.given`). */
  readonly inputs?: Fields;
  /** Checks `inputs`. Runs after all objects that they name are known to exist. */
  checkInputs?(given: JsonObject, state: State): readonly Fault[];
  /** Returns the natural key of a child: the part of its key after the parent's key. */
  naturalKey?(spec: SpecOf<F>): string;
  /**
   * Returns a value by which children are paired: a removed and a new child with equal values may be treated as one
   * update although their natural keys differ.
   */
  pairing?(spec: SpecOf<F>): string;
  readonly computed?: Readonly<Record<string, Computed<O>>>;
  /** Members to include when responses of other kinds show an object of this kind as a summary. */
  readonly summary?: readonly string[];
  /** Field with the display name. Default: `name`. */
  readonly nameField?: string;
  /** Query parameters that filter lists, by name. */
  readonly filters?: Readonly<Record<string, Filter<O>>>;
  readonly uniques?: Readonly<Record<string, UniqueRule<O>>>;
  /** Values by which an object is found without knowing its account, by kind of directory entry. */
  readonly entries?: Readonly<Record<string, (object: O) => string | undefined | readonly string[]>>;
  /**
   * Paths of the members with the addresses to which the secrets of an object are sent, such as `target.url`. When one
   * of them gets another origin, the change must give the secrets again.
   */
  readonly secretAddresses?: readonly string[];
  /** Set when audit events of the account are delivered to objects of this kind, each from its creation on. */
  readonly delivers?: true;
  /** Values by which rules look up objects, by index name. */
  readonly indexes?: Readonly<Record<string, (object: O) => readonly string[]>>;
  /**
   * Normalizes spellings that depend on another field. Pure and idempotent. Runs on the result of `normalize`, for a
   * complete spec or for its stated part only.
   */
  canonicalize?(spec: SpecOf<F>): SpecOf<F>;
  /** How API descriptions show that one member depends on another. `check` must refuse specs that contradict it. */
  readonly variants?: Variants;
  /** Rules that the members of the spec must satisfy together. */
  readonly rules?: readonly MemberRule[];
  /** Checks rules that need only the spec and cannot be expressed in `rules`. */
  check?(spec: SpecOf<F>): readonly Fault[];
  /** Checks rules that read other objects. Runs when the object changes. */
  checkState?(object: O, state: State): readonly Fault[];
  /**
   * Checks rules about the change itself: the stored object and the caller. The code `not_allowed` means that the
   * caller may not make the change, `precondition_failed` that the object is not in a state for it. Not called for
   * derived changes.
   */
  checkMutation?(mutation: Mutation<O>, before: State, next: State): readonly Fault[];
  /**
   * Set when a Kubernetes resource may name a Service of its namespace in `member`, instead of giving an address in
   * `field`.
   */
  readonly service?: { readonly member: string; readonly field: string };
  /** How values made by `generate` are replaced before they expire. */
  readonly renewal?: Renewal<O>;
  /** Names of the values of `generate` that are shown once. */
  readonly outputs?: readonly string[];
  /** Generates the server's values when an object is created. */
  generate?(object: O, input: GeneratorInput): GeneratedValues;
  /**
   * Returns what else changes when the object is created, changed or deleted. Pure. The resulting edits are checked
   * like all others.
   */
  derivedChanges?(step: ObjectChange<O>, state: State): readonly DerivedChange[];
  /**
   * Set when derived changes follow from `inputs` alone. They need not be computed for documents, which have no inputs.
   */
  readonly derivedChangesFrom?: 'inputs';
  /** Checks whether derived changes may also follow without `inputs`, because of the settings of the account. */
  alsoFollows?(object: O, state: State): boolean;
  /** Returns why no caller may change or delete the object. */
  refuse?(object: O, action: 'update' | 'delete'): string | undefined;
  /** Returns warnings that plans show next to the change. */
  warnings?(before: O | undefined, after: O | undefined): readonly string[];
  /**
   * Describes what in a change needs an approval when documents make it. The API makes the change and reports these
   * texts in `Heddle-Notice`.
   */
  approvals?(before: O | undefined, after: O | undefined): readonly string[];
  /**
   * How the API answers when it refuses to delete a referenced object of this kind: always, or by kind of the
   * referencing object.
   */
  readonly inUse?: InUseReason | Readonly<Record<string, InUseReason>>;
  /** Returns objects that use this one without a reference to it. The object may already be deleted in `state`. */
  usedBy?(object: O, state: State): readonly StoredObject[];
  /**
   * Set when invites can name objects of this kind. Invites are not objects; an object that a pending invite names is
   * in use.
   */
  readonly namedByInvites?: true;
  readonly activity?: ActivityCodes;
  /** Returns the metadata of the activity. Default: `{name}`. */
  activityMeta?(object: O, state: State): Readonly<Record<string, string>>;
  /** Returns the events that replace the default activity of an update, when one code is not enough. */
  updateEvents?(before: O, after: O, state: State): readonly AuditEvent[];
  /** Returns events to record in addition to the default activity of a creation. */
  createEvents?(after: O, state: State): readonly AuditEvent[];
  /**
   * Returns events to record in addition to the default activity of a deletion. `state` is the one before the deletion.
   */
  deleteEvents?(before: O, state: State): readonly AuditEvent[];
  /**
   * List in a source's scope that names objects of this kind. Documents of the source may not refer to other objects of
   * the kind.
   */
  readonly scopedBy?: 'groups';
  /** Whether references to objects of this kind may wait until the object exists. */
  readonly pending?: boolean;
  /** Adapts the generic response where the wire format differs. Runs last. */
  respond?(body: JsonObject, object: O, state: State, installation: Installation): JsonObject;
  /** Checks whether an object belongs to the viewer, who sees it even without the right to read the kind. */
  isOwn?(object: O, viewer: string, state: State): boolean;
  /**
   * Set for credentials: `itself` when the object is a credential, whose value its holder keeps; `beside` when
   * credentials such as tokens and passwords are stored with the object and deleted with it. A rollback restores
   * neither.
   */
  readonly credential?: 'itself' | 'beside';
  /** Names of derived values that describe the credentials beside an object. A rollback does not restore these either. */
  readonly credentialFacts?: readonly string[];
  /** Checks whether the object belongs to the server. Such an object is never exported, adopted or pruned. */
  isSystem?(object: O): boolean;
  /** A realistic `spec` as a document states it. References may name the keys of other kinds' examples. */
  readonly example: Example;
}

/** A kind declaration with its defaults filled in. */
export interface Kind extends KindDeclaration {
  readonly verbs: readonly Verb[];
  readonly nameField: string;
  readonly computed: Readonly<Record<string, Computed>>;
  readonly uniques: Readonly<Record<string, UniqueRule>>;
  readonly indexes: Readonly<Record<string, (object: StoredObject) => readonly string[]>>;
}

/** Declares a kind. Infers the types of its rules from the fields. */
export function defineKind<const F extends Fields, const Name extends string>(
  declaration: KindDeclaration<F, Name, ObjectOf<NoInfer<Name>>, ExampleOf<NoInfer<F>>> & {
    readonly spec: FieldsOf<NoInfer<Name>>;
  },
): Kind {
  // Rules receive the canonical spec, which has the shape of the fields because `normalize` ran before.
  const kind = declaration as unknown as KindDeclaration;
  return {
    verbs: ['list', 'create', 'read', 'replace', 'delete'],
    nameField: 'name',
    computed: {},
    uniques: {},
    indexes: {},
    ...kind,
    ...withRules(kind),
  };
}

/**
 * Adds the `rules` of a kind and of its fields to its `check`. A kind without rules keeps its own `check`, or has none:
 * callers of `check` must build the complete spec, which for a group contains every member.
 */
function withRules({ spec: fields, rules = [], check }: KindDeclaration): Pick<KindDeclaration, 'check'> {
  if (rules.length === 0 && !containRules(fields)) return {};
  return { check: (spec) => [...brokenRules(fields, rules, spec as JsonObject), ...(check?.(spec) ?? [])] };
}

/** Fields that a kind declared in `KindTypes`. */
type FieldsOf<Name extends string> = Name extends KindName ? KindTypes[Name]['fields'] : Fields;

/** Values of declared fields only, so that an example cannot keep a field that was removed. */
type ExampleOf<F extends Fields> = { readonly [Field in keyof F]?: Json };

/** Checks whether documents only state existing objects of the kind, and never create or delete one. */
export function canOnlyStateExisting(kind: Kind): boolean {
  return kind.document.allowed && kind.document.creates === false;
}
