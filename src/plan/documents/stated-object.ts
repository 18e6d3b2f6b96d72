import { equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { Actor } from '../../model/declare/actor.ts';
import { canOnlyStateExisting, type Fault, type Kind } from '../../model/declare/kind.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../model/declare/plan-environment.ts';
import type { Document } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import { canonicalStated } from '../../model/schema/normalize.ts';
import { sealSecrets } from '../../model/schema/secrets.ts';
import type { Validator } from '../../model/schema/validation/validator.ts';
import type { FileRules } from '../../model/sources/file-rules.ts';
import { equalContent } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { diffUnits, isOwnershipOnly, type UnitChange } from '../../model/state/units.ts';
import { type ReferenceTargets, type Resolved, resolveReferences } from '../checks/resolve.ts';
import type { Edit } from '../finish.ts';
import { effectiveOptions, type RequestedOptions } from '../options.ts';
import type { ClaimedUnit, ClaimsOfOthers, PendingClaim } from '../ownership/claims-of-others.ts';
import { overridesMember } from '../ownership/overrides.ts';
import { isOwnershipUnchanged, ownershipOf } from '../ownership/ownership.ts';
import { stateOnObject } from '../ownership/state-on-object.ts';
import { specWithStatedSecrets } from '../ownership/stated-secrets.ts';
import { describeConflict, describeEviction, describeKept } from '../ownership/unit-messages.ts';
import type { DeclarationMove } from '../plan.ts';
import { describeUnits } from '../view/describe.ts';
import { viewUnits } from '../view/view.ts';
import { adoptAnnotation, annotationFaults } from './annotations.ts';
import {
  changedCreateOnlyFields,
  createObject,
  createOnlyProblems,
  isReplaceable,
  recreate,
  statingContextOf,
} from './create-object.ts';
import { type DesiredObject, problemAt, problemOf } from './desired.ts';
import type { MatchedObject } from './identity.ts';
import { isRenewable, isRenewalDue, renewalFaults } from './renewal.ts';

/** Documents of a source, and the options for applying them. */
export interface DocumentsInput extends RequestedOptions {
  readonly snapshot: Snapshot;
  readonly validator: Validator;
  readonly source: string;
  readonly documents: readonly Document[];
  /**
   * The documents that were applied last, if the snapshot is exactly the result of applying them. Only later changes
   * are then planned; the plan is the same as without this member.
   */
  readonly since?: readonly Document[];
  /** Time of creation or update to set on new and changed objects, in ISO 8601. */
  readonly now: string;
  newId(): string;
  readonly planEnvironment?: PlanEnvironment;
  readonly actor?: Actor;
  /** Uses of objects by something other than an object, such as invites: texts by id of the used object. */
  readonly alsoUsedBy?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Claims of all sources of the account that could not be applied. */
  readonly claimed?: readonly PendingClaim[];
  /** True when a caller applies the documents. Some problems are warnings in a preview, and errors here. */
  readonly isManualApply?: boolean;
  /** Files of documents whose objects have generated values that are lost. Their values are generated again. */
  readonly lost?: ReadonlySet<string> | undefined;
  /** Files that are held back: their objects stay unchanged, and their documents are not in `documents`. */
  readonly heldFiles?: ReadonlySet<string>;
  /** Rules that chose which files of the source are read. */
  readonly rules?: readonly FileRules[] | undefined;
}

/** Input for every document of one plan. */
export interface Planning extends DocumentsInput {
  /** Ids of objects whose key in the snapshot differs from their key in the account. */
  readonly moved: ReadonlySet<string>;
  readonly contest: ClaimsOfOthers;
  /** Returns the digest by which claimed values of an object are compared, for the unit at a path. */
  digest(kind: Kind, object: string, path: string, value: Json): string;
}

/** A matched object with its id, which is assigned before references are resolved. */
export interface MatchedDocument extends MatchedObject {
  readonly id: string;
  /** Id of the old object that is deleted, when this target re-creates it. */
  readonly replaces?: string;
}

/** The effect of one document. */
interface DocumentEffect {
  readonly edit?: Edit;
  /** The old object that is deleted because the edit re-creates it. */
  readonly gone?: StoredObject;
  /**
   * True when the document is refused only because the object would have to be re-created, and re-creating it is
   * possible.
   */
  readonly replaceable?: true;
  readonly move?: DeclarationMove;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Units that the document claims and that could not be applied. */
  readonly claimedUnits?: readonly ClaimedUnit[];
}

/**
 * Returns the effect of a document on its object: an edit, a change of position only, or problems. Yields now and then
 * when the document has many references.
 */
export function* editTarget(
  input: Planning,
  target: MatchedDocument,
  names: ReferenceTargets,
): Generator<undefined, DocumentEffect> {
  const { desired, existing } = target;
  const { registry } = input.snapshot;
  const resolved = yield* resolveReferences(registry, desired.kind, desired.spec, names);
  const parent = yield* resolveParent(desired, names);
  const { account, sealForm: form } = input.snapshot;
  // Secrets are sealed for the id of the existing object. A re-created object gets them sealed again for its new id.
  const before = existing && specWithStatedSecrets(desired.kind.spec, existing, input.source);
  const sealing = { account, object: existing?.id ?? target.id, form, before };
  const { planEnvironment = emptyEnvironment } = input;
  const sealed = sealSecrets(desired.kind.spec, resolved.spec, sealing, planEnvironment, 'document');
  const canonical = canonicalStated(desired.kind, sealed.spec);
  const faults = [...resolved.faults, ...parent.faults, ...sealed.faults, ...canonical.faults];
  const notes = [
    ...annotationFaults(desired.kind, desired.annotations, planEnvironment),
    ...renewalFaults(desired.kind, desired.annotations, { ...existing?.spec, ...canonical.spec }),
  ].map((fault) => annotationProblem(desired, fault));
  const postponed = [
    ...[...resolved.pending, ...parent.pending].map(toPendingFault),
    ...resolved.former,
    ...parent.former,
  ];
  const warnings = yield* mapInSteps(postponed, (fault) => problemOf(desired, fault));
  if (faults.length + notes.length > 0) {
    const problems = yield* mapInSteps(faults, (fault) => problemOf(desired, fault));
    return { problems: [...problems, ...notes], warnings };
  }
  if (resolved.waits || parent.waits) return { problems: [], warnings };
  if (existing === undefined && canOnlyStateExisting(desired.kind)) {
    return { problems: [], warnings: [...warnings, absentWarning(desired)] };
  }
  const stated =
    parent.id === undefined ? canonical.spec : { ...canonical.spec, [desired.kind.parent?.field ?? '']: parent.id };
  if (existing === undefined) {
    const after = createObject(input, target, stated, parent.id);
    const contested = contestNewObject(input, desired, after, stated);
    return contested === undefined
      ? { edit: { after, position: desired.position, written: canonical }, problems: [], warnings }
      : { ...contested, warnings };
  }
  const updated = updateObject(input, target, names, existing, stated);
  const givenSecrets = { pointers: sealed.given, document: { source: input.source, spec: canonical.spec } };
  const edit = updated.edit === undefined ? {} : { edit: { ...updated.edit, written: canonical, givenSecrets } };
  return { ...updated, ...edit, warnings: [...warnings, ...updated.warnings] };
}

function toPendingFault(fault: Fault): Fault {
  return {
    ...fault,
    code: 'reference_pending',
    message: `${fault.message}; it is applied once that object exists`,
  };
}

/** Returns the problem when another source claims other values for a new object; `undefined` when no source does. */
function contestNewObject(
  input: Planning,
  desired: DesiredObject,
  after: StoredObject,
  stated: JsonObject,
): Pick<DocumentEffect, 'problems' | 'claimedUnits'> | undefined {
  const how = statingContextOf(input, desired);
  if (how.claimed.length === 0) return undefined;
  const { conflicts, claimedUnits } = stateOnObject(
    how,
    desired,
    { ...after, spec: {}, members: {}, declared: [] },
    stated,
  );
  if (conflicts.length === 0) return undefined;
  return {
    problems: conflicts.map((conflict) => problemOf(desired, describeConflict(input.snapshot, conflict))),
    claimedUnits,
  };
}

function annotationProblem({ position, kind, key }: DesiredObject, fault: Fault): Problem {
  return problemAt(position, '/metadata/annotations', { kind: kind.name, metadata: { name: key } }, fault);
}

/** Resolves the id of the parent. Without an id, the child has no parent or has to wait for it. */
function* resolveParent(
  desired: DesiredObject,
  names: ReferenceTargets,
): Generator<undefined, Pick<Resolved, 'faults' | 'pending' | 'former' | 'waits'> & { readonly id?: string }> {
  const parent = desired.kind.parent;
  if (parent === undefined || desired.parent === undefined)
    return { faults: [], pending: [], former: [], waits: false };
  const resolved = yield* resolveReferences(
    names.snapshot.registry,
    { ...desired.kind },
    { [parent.field]: desired.parent },
    names,
  );
  const id = resolved.spec[parent.field];
  return { ...resolved, ...(typeof id === 'string' ? { id } : {}) };
}

function updateObject(
  input: Planning,
  target: MatchedDocument,
  names: ReferenceTargets,
  existing: StoredObject,
  stated: JsonObject,
): DocumentEffect {
  const { desired } = target;
  const { snapshot, source } = input;
  const { adopt } = effectiveOptions(input, snapshot.settingsOf(source));
  const part = stateOnObject(statingContextOf(input, desired), desired, existing, stated);
  const { declaration, claimedUnits } = part;
  const conflicts = part.conflicts.map((conflict) => problemOf(desired, describeConflict(snapshot, conflict)));
  const fixed = changedCreateOnlyFields(desired.kind, existing, part.content.spec);
  if (target.replaces === undefined && fixed.length > 0) {
    const replaceable =
      conflicts.length === 0 && isReplaceable(input, target, existing) ? { replaceable: true as const } : {};
    return {
      problems: [...createOnlyProblems(desired, fixed), ...conflicts],
      warnings: [],
      claimedUnits,
      ...replaceable,
    };
  }
  if (conflicts.length > 0) return { problems: conflicts, warnings: [], claimedUnits };
  const warnings = [
    ...part.left.map((left) => describeKept(snapshot, desired.kind.spec, left)),
    ...part.evicted.map((eviction) => describeEviction(snapshot, eviction)),
  ].map((fault) => problemOf(desired, fault));
  const before = existing.declared.find((item) => item.source === source);
  const keeping = ownershipOf(source, target, existing);
  const same = equalContent(part.content, existing);
  const renews = needsRenewal(input, desired, existing);
  const unchanged =
    same &&
    before !== undefined &&
    equalJson(before.stated, declaration.stated) &&
    before.exclusive === declaration.exclusive &&
    part.evicted.length === 0 &&
    part.overrides.length === (existing.overrides ?? []).length &&
    existing.key === desired.key &&
    isOwnershipUnchanged(keeping, existing) &&
    !input.moved.has(existing.id) &&
    !renews;
  if (unchanged) {
    const stays = before?.file === desired.position.file && before.line === desired.position.line;
    return { problems: [], warnings, ...(stays ? {} : { move: { object: existing, position: desired.position } }) };
  }
  const units = same ? [] : diffUnits(desired.kind.spec, existing, part.content);
  const equal = units.every((unit) => isOwnershipOnly(desired.kind.spec, unit));
  if (target.adopted === 'by_name' && !equal && adopt !== 'take')
    return { problems: [differsProblem(desired, existing, units, names)], warnings: [] };
  const { overrides: _, owner: __, aliases: ___, ...rest } = existing;
  const after: StoredObject = {
    ...rest,
    ...keeping,
    key: desired.key,
    name: String(part.content.spec[desired.kind.nameField] ?? desired.key),
    ...part.content,
    updatedAt: equal ? existing.updatedAt : input.now,
    ...overridesMember(part.overrides),
    declared: [...part.others, declaration].sort((a, b) => compare(a.source, b.source)),
  };
  if (target.replaces !== undefined) {
    const recreated = recreate(input, target, after);
    const edit = { after: recreated, position: desired.position, replaces: { id: existing.id, fields: fixed } };
    return { edit, gone: existing, problems: [], warnings };
  }
  const { resets, claimed } = part;
  const edit = { before: existing, after, position: desired.position, resets, claimed };
  return { edit: { ...edit, ...(renews ? { renews } : {}) }, problems: [], warnings };
}

/** Whether the generated values of the object end soon or were lost. */
function needsRenewal(
  { now, lost }: Planning,
  { kind, annotations, position }: DesiredObject,
  existing: StoredObject,
): boolean {
  if (lost?.has(position.file) === true && isRenewable(kind, annotations, existing)) return true;
  return isRenewalDue(kind, annotations, existing, now);
}

/** Returns the warning for a document of a kind that documents cannot create: it waits for its object. */
function absentWarning(desired: DesiredObject): Problem {
  const message = `there is no ${desired.kind.name} \`${desired.key}\` yet, and documents do not create one; the document is applied once it exists`;
  return problemOf(desired, { code: 'object_pending', path: '', message });
}

/**
 * Returns the problem of an object that exists already with other values. The message names the three ways out: adopt
 * any object, adopt this object by id, or choose another name.
 */
function differsProblem(
  desired: DesiredObject,
  existing: StoredObject,
  units: readonly UnitChange[],
  names: ReferenceTargets,
): Problem {
  const change = describeUnits(viewUnits(desired.kind.spec, units, (id) => names.label(id)));
  const message = `${desired.kind.name} \`${existing.name}\` already exists (id ${existing.id}), no source manages it, and adopting it would change it (${change}); make the document equal, adopt it with --adopt=take or with the annotation ${adoptAnnotation}: "id:${existing.id}", or choose another name`;
  return problemOf(desired, { code: 'object_exists', path: '', message });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
