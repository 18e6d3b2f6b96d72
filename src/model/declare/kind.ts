import type { Json, JsonObject } from '../../lib/json.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { Fields, SpecOf } from '../schema/field.ts';
import { brokenRules, type MemberRule } from '../schema/member-rules.ts';
import type { MemberEdit } from '../state/members.ts';
import type { StoredObject } from '../state/object.ts';
import type { Observed } from '../state/observed.ts';
import type { FieldOf, KindName, KindTypes, ObjectOf } from '../state/stored.ts';
import type { ActivityCode } from './activities.ts';
import type { Actor, Caller } from './actor.ts';
import type { Installation } from './installation.ts';

/** The objects that rules, computed members and planners may look at: one account at one moment. */
export interface State {
  readonly account: string;
  get(id: string): StoredObject | undefined;
  /** The object with this id if it is of this kind. */
  find<Name extends string>(kind: Name, id: string): ObjectOf<Name> | undefined;
  ofKind<Name extends string>(kind: Name): readonly ObjectOf<Name>[];
  countOf(kind: string): number;
  childrenOf<Name extends string>(parent: string, kind: Name): readonly ObjectOf<Name>[];
  /** Objects whose declared index `index` has this value. */
  lookUp<Name extends string>(kind: Name, index: string, value: string): readonly ObjectOf<Name>[];
  /** The object that holds a unique value, if any. */
  holderOf<Name extends string>(kind: Name, rule: string, value: string): ObjectOf<Name> | undefined;
  /** Objects that reference this one, with the field that does. */
  referrersOf(id: string): readonly { readonly from: StoredObject; readonly field: string }[];
  /** Objects of a kind that reference this one by a field. */
  referrersBy<Name extends string>(kind: Name, field: FieldOf<Name>, id: string): readonly ObjectOf<Name>[];
  /** How many reference this one from a field of a kind; does not build the list. */
  countReferrers<Name extends string>(id: string, kind: Name, field: FieldOf<Name>): number;
  /** When the state is looked at, ISO 8601; set for answers of kinds that vary. */
  readonly now?: string;
  /** The id of the user who looks at it; set for answers of kinds that vary. */
  readonly viewer?: string;
  /** To how many peers a peer may open a connection; set for lists of kinds that show it. */
  countAccessible?(peer: string): number;
  /** Why endpoint security keeps a peer out, `undefined` when it does not; set for answers of kinds whose peers are observed. */
  disapproval?(peer: string): string | undefined;
  /** What is observed about objects at this moment; set for answers of kinds that are `observed`. */
  readonly observed?: Observed;
}

/** A broken rule. `path` is a JSON pointer into the spec. */
export interface Fault {
  readonly code: ProblemCode;
  readonly path: string;
  readonly message: string;
}

/** A member of responses that the server works out. */
export interface Computed<O = StoredObject> {
  readonly doc: string;
  /** JSON Schema of the value, for OpenAPI. */
  readonly schema: JsonObject;
  value(object: O, state: State): Json | undefined;
  /**
   * Follows from `State.countAccessible`, which needs to know who reaches whom in the account: shown in lists, not in the
   * answer about one object.
   */
  readonly countsAccess?: true;
}

export type InUse = 'linked' | 'in_use' | 'precondition';

/** A value that at most one object of the kind may have; `code` and `message` are those of the refusal. */
export interface Unique<O = StoredObject> {
  value(object: O): string | undefined;
  readonly path: string;
  message(value: string): string;
}

export type Verb = 'list' | 'create' | 'read' | 'replace' | 'delete';

export interface Parent {
  readonly kind: string;
  /** The reference to the parent in a standalone document. */
  readonly field: string;
  /** The member of the parent's documents and answers that carries these children; absent: nothing of the parent shows them. */
  readonly inline?: string;
  /** The parent does not go while it has such children; otherwise they go with it. */
  readonly holds?: true;
  /** Whether the parent's answer shows the children themselves (the default) or their ids. */
  readonly answer?: 'objects' | 'ids';
}

/** Something worth a row of the audit log. */
export interface AuditEvent {
  readonly code: ActivityCode;
  readonly target?: string;
  readonly meta: Readonly<Record<string, string>>;
}

/** The members that an object, or the keys that a map, has in one case. */
export interface Variant {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Those of other cases that may be given all the same, but empty. */
  readonly empty?: readonly string[];
}

/** What a member holds depends on the word of another one. */
export interface Variants {
  /** The member with the word. */
  readonly by: string;
  /** The object or map that depends on it. */
  readonly member: string;
  /** By word. */
  readonly of: Readonly<Record<string, Variant>>;
}

/** Activity codes of the plain operations; an absent one records nothing. */
export interface Activity {
  readonly create?: ActivityCode;
  readonly update?: ActivityCode;
  readonly delete?: ActivityCode;
}

/** Which objects a query parameter leaves in. */
export interface Filter<O = StoredObject> {
  readonly doc: string;
  matches(object: O, value: string, state: State): boolean;
  /** What is wrong with a value that nothing could match; the request is refused with it. */
  fault?(value: string): string | undefined;
  /** JSON Schema of the parameter, a text unless said otherwise. */
  readonly schema?: JsonObject;
}

/** What the generation of values of a new object may use. */
export interface GeneratorInput {
  /** ISO 8601, UTC. */
  readonly now: string;
  random(bytes: number): Uint8Array;
}

/** Values that the server generated: kept in `derived`, and shown once in the answer to the creation. */
export interface GeneratedValues {
  readonly derived: JsonObject;
  readonly outputs?: Readonly<Record<string, string>>;
}

/** What was made for an object, where it ends one day. */
export interface Renewal<O = StoredObject> {
  /** How long it works from when it is made, in seconds, by the spec of its object; `undefined` where that does not say. */
  lifetime(spec: JsonObject): number | undefined;
  /** ISO 8601; `undefined` for what is not to be replaced. */
  expires(object: O): string | undefined;
  /** What takes its place. What there was may go on working until it ends. */
  renew(object: O, input: GeneratorInput): GeneratedValues;
}

/** One object before and after a step; an absent side means that it comes or goes. */
export interface Step<O = StoredObject> {
  readonly before?: O;
  readonly after?: O;
  /** The `inputs` of the request, canonical, when there was one. */
  readonly given?: JsonObject;
  /** On whose behalf; absent for what the server does by itself. */
  readonly actor?: Actor;
  newId(): string;
}

/** A change of one object by a caller, for the rules that depend on who makes it and on what was stored before. */
export type Mutation<O = StoredObject> = Pick<Step<O>, 'before' | 'after'> & {
  readonly actor?: Caller;
  /** It goes back to what was there before. */
  readonly rollback?: true;
};

/** A change that follows from another: of a stored object, its end, or an object that comes with it. */
export type DerivedChange =
  | {
      readonly change: StoredObject;
      /** Absent: it stays. */
      readonly spec?: JsonObject;
      /** The members whose origins are others now, by membership field. */
      readonly members?: Readonly<Record<string, readonly MemberEdit[]>>;
      readonly derived?: JsonObject;
    }
  | { readonly remove: StoredObject }
  | {
      readonly add: {
        readonly id: string;
        readonly kind: string;
        readonly parent?: string;
        readonly spec: JsonObject;
        readonly derived: JsonObject;
      };
    };

/** A resource type, declared once. Everything the program knows about a kind is read from here. */
export interface KindDeclaration<
  F extends Fields = Fields,
  Name extends string = string,
  O extends StoredObject = StoredObject,
  Example = JsonObject,
> {
  readonly name: Name;
  readonly doc: string;
  /** REST collection path, `{zoneId}` for a parent's id. Absent: no endpoints. */
  readonly path?: string;
  /** Name of the id parameter in the path, such as `groupId`. */
  readonly idParameter?: string;
  /** Ids are whole numbers, counted per account and kind; otherwise opaque texts. */
  readonly ids?: 'integer';
  /** The unique rule by whose value paths name an object, in place of its id. */
  readonly addressedBy?: string;
  /** There is at most one object, addressed by the path itself, without an id. */
  readonly single?: boolean;
  /** The one object always exists: until it is written, it has the default values. */
  readonly implied?: boolean;
  /** Answers depend on the moment or on who asks (`State.now`, `State.viewer`), so none is kept. */
  readonly varies?: boolean;
  /**
   * Answers show observations from outside revisions (`State.observed`): what peers or proxies report, when people sign
   * in, when integrations last took something over. They are not part of the object.
   */
  readonly observed?: 'peers' | 'proxies' | 'people' | 'integrations';
  /** Where all objects of a child kind are listed, whatever their parent. */
  readonly listPath?: string;
  /** Other collection paths that lead to the same objects. */
  readonly alsoAt?: readonly string[];
  /**
   * The body of a replace without what answers show for another reason than what is stored: sent back, that states nothing.
   */
  withoutEchoes?(body: JsonObject, object: O, state: State): JsonObject;
  /** A replace leaves alone what the body leaves out. */
  readonly merge?: boolean;
  /** A delete answers `{}`, or 204, instead of 200 with nothing. */
  readonly deleteReply?: 'object' | 'no_content';
  /** Lists end with these, which are no objects. */
  alsoListed?(state: State): readonly JsonObject[];
  /** The kind exists in the hosted edition alone. */
  readonly edition?: 'hosted';
  readonly verbs?: readonly Verb[];
  /** Permission module. */
  readonly module: string;
  /** Documents of this kind exist. Says why when they do not. */
  readonly document:
    | {
        readonly allowed: true;
        /** Documents state what is there already; others make it. */
        readonly creates?: false;
        /** What `kubectl` calls resources of the kind for short. */
        readonly shortName?: string;
      }
    | { readonly allowed: false; readonly why: string };
  /** There is exactly one object, with this key in documents. */
  readonly singleton?: string;
  readonly parent?: Parent;
  readonly spec: F;
  /** Members of request bodies that are not kept: they only steer what follows (`Step.given`). */
  readonly inputs?: Fields;
  /** Rules about `inputs`, once everything that they name is known to exist. */
  checkInputs?(given: JsonObject, state: State): readonly Fault[];
  /** Natural key of a child, the part of its key behind the parent's. */
  naturalKey?(spec: SpecOf<F>): string;
  /** Children of equal pairing value may be matched as an update when their natural keys differ. */
  pairing?(spec: SpecOf<F>): string;
  readonly computed?: Readonly<Record<string, Computed<O>>>;
  /** Members of the summary by which other kinds' responses show an object of this kind. */
  readonly summary?: readonly string[];
  /** The field that is the display name; `name` unless said otherwise. */
  readonly nameField?: string;
  /** Query parameters of lists: which objects a value leaves in. */
  readonly filters?: Readonly<Record<string, Filter<O>>>;
  readonly uniques?: Readonly<Record<string, Unique<O>>>;
  /** Values by which an object is found without knowing its account: kind of entry in the directory to values. */
  readonly entries?: Readonly<Record<string, (object: O) => string | undefined | readonly string[]>>;
  /** Audit events of the account are delivered to objects of this kind, each from its creation on. */
  readonly delivers?: true;
  /** Values by which rules look objects up. */
  readonly indexes?: Readonly<Record<string, (object: O) => readonly string[]>>;
  /** Spellings that depend on another field. Pure and idempotent; runs on what `normalize` gave, full or only stated. */
  canonicalize?(spec: SpecOf<F>): SpecOf<F>;
  /** How descriptions of the interface show that one member depends on another; `check` refuses what is otherwise. */
  readonly variants?: Variants;
  /** What the members of the spec must not contradict. */
  readonly rules?: readonly MemberRule[];
  /** Rules that need nothing but the spec, and no data can say. */
  check?(spec: SpecOf<F>): readonly Fault[];
  /** Rules that look at other objects; run when the object changes. */
  checkState?(object: O, state: State): readonly Fault[];
  /**
   * Rules about the change itself: what it was before, and who does it. The code `not_allowed` says that it is not theirs
   * to do, `precondition_failed` that the object is not in a state for it. What follows from another change is not asked.
   */
  checkMutation?(mutation: Mutation<O>, before: State, next: State): readonly Fault[];
  /** In a cluster, a resource may name a Service beside it in this member, in place of the field that is its address. */
  readonly service?: { readonly member: string; readonly field: string };
  /** How what `generate` made is replaced before it ends. */
  readonly renewal?: Renewal<O>;
  /** The values of `generate` that are shown once. */
  readonly outputs?: readonly string[];
  /** The values that the server generates when an object is created. */
  generate?(object: O, input: GeneratorInput): GeneratedValues;
  /** What else changes when an object comes, changes or goes. Pure; its edits are checked like all others. */
  derivedChanges?(step: Step<O>, state: State): readonly DerivedChange[];
  /** What follows, follows from `inputs` alone; documents, which give none, need not be asked. */
  readonly derivedChangesFrom?: 'inputs';
  /** Beside that: whether more may follow from a change of this object, by what the account says about it. */
  alsoFollows?(object: O, state: State): boolean;
  /** Why the object may not be changed or deleted by anyone. */
  refuse?(object: O, action: 'update' | 'delete'): string | undefined;
  /** Shown in plans beside a change that deserves a second look. */
  warnings?(before: O | undefined, after: O | undefined): readonly string[];
  /** What of a change documents make only with an approval; the API makes it, and says so in `Heddle-Notice`. */
  approvals?(before: O | undefined, after: O | undefined): readonly string[];
  /** How a refused delete of a referenced object of this kind is answered, or how by the kind that refers to it. */
  readonly inUse?: InUse | Readonly<Record<string, InUse>>;
  /** Objects that use this one without a reference to it; the state may be one in which it is gone. */
  usedBy?(object: O, state: State): readonly StoredObject[];
  /** Invites, which are no objects, name objects of this kind; one that a pending invite names is in use. */
  readonly namedByInvites?: true;
  readonly activity?: Activity;
  /** Meta of the activity, `{name}` unless said otherwise. */
  activityMeta?(object: O, state: State): Readonly<Record<string, string>>;
  /** Replaces the plain activity of an update when one code does not say it all. */
  updateEvents?(before: O, after: O, state: State): readonly AuditEvent[];
  /** Recorded beside the plain activity of a creation. */
  createEvents?(after: O, state: State): readonly AuditEvent[];
  /** Recorded beside the plain activity of a deletion; the state is the one before it. */
  deleteEvents?(before: O, state: State): readonly AuditEvent[];
  /** The list of a source's scope that names objects of this kind: others than these documents may not refer to. */
  readonly scopedBy?: 'groups';
  /** References to objects of this kind may wait for an object that is not there yet. */
  readonly pending?: boolean;
  /** Bends the generic response where the wire wants something else; runs last. */
  respond?(body: JsonObject, object: O, state: State, installation: Installation): JsonObject;
  /** Whether those who may not read the kind see the object all the same, because it is theirs. */
  isOwn?(object: O, viewer: string, state: State): boolean;
  /**
   * A credential: the object itself, by a value that its holder keeps, or values that are stored beside it and deleted
   * with it, such as tokens and passwords. A rollback restores neither.
   */
  readonly credential?: 'itself' | 'beside';
  /** The object is the server's own: never exported, adopted or pruned. */
  isSystem?(object: O): boolean;
  /** A believable `spec` as a document states it; references may name keys of other kinds' examples. */
  readonly example: Example;
}

/** A declaration with its defaults filled, as the machinery sees it. */
export interface Kind extends KindDeclaration {
  readonly verbs: readonly Verb[];
  readonly nameField: string;
  readonly computed: Readonly<Record<string, Computed>>;
  readonly uniques: Readonly<Record<string, Unique>>;
  readonly indexes: Readonly<Record<string, (object: StoredObject) => readonly string[]>>;
}

/** Declares a kind. The fields give the rules their static types. */
export function defineKind<const F extends Fields, const Name extends string>(
  declaration: KindDeclaration<F, Name, ObjectOf<NoInfer<Name>>, ExampleOf<NoInfer<F>>> & {
    readonly spec: FieldsOf<NoInfer<Name>>;
  },
): Kind {
  // Rules see the canonical spec, which has the shape that the fields give it: `normalize` ran before.
  const kind = declaration as unknown as KindDeclaration;
  return {
    verbs: ['list', 'create', 'read', 'replace', 'delete'],
    nameField: 'name',
    computed: {},
    uniques: {},
    indexes: {},
    ...kind,
    check: (spec) => [...brokenRules(kind.spec, kind.rules ?? [], spec as JsonObject), ...(kind.check?.(spec) ?? [])],
  };
}

/** The fields with which a kind added itself to `KindTypes`. */
type FieldsOf<Name extends string> = Name extends KindName ? KindTypes[Name]['fields'] : Fields;

/** Values of declared fields alone, so that an example cannot outlive a field. */
type ExampleOf<F extends Fields> = { readonly [Field in keyof F]?: Json };

/** Whether documents only state objects that others make, and never make or end one. */
export function statesOnly(kind: Kind): boolean {
  return kind.document.allowed && kind.document.creates === false;
}
