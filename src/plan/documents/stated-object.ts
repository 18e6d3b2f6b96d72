import { equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { Actor } from '../../model/declare/actor.ts';
import { type Fault, type Kind, statesOnly } from '../../model/declare/kind.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../model/declare/plan-environment.ts';
import type { Document } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import { canonicalStated } from '../../model/schema/normalize.ts';
import { sealSecrets } from '../../model/schema/secrets.ts';
import type { Validator } from '../../model/schema/validator.ts';
import type { FileRules } from '../../model/sources/file-rules.ts';
import { equalContent } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { diffUnits, isHandover, type UnitChange } from '../../model/state/units.ts';
import { type Names, type Resolved, resolveReferences } from '../checks/resolve.ts';
import type { Edit } from '../finish.ts';
import { optionsOf, type RequestedOptions } from '../options.ts';
import type { ClaimedUnit, ClaimsOfOthers, PendingClaim } from '../ownership/claims-of-others.ts';
import { overridesMember } from '../ownership/overrides.ts';
import { isKept, keepingOf } from '../ownership/ownership.ts';
import { stateOnObject } from '../ownership/state-on-object.ts';
import { describeConflict, describeEviction, describeLeft } from '../ownership/unit-messages.ts';
import type { Move } from '../plan.ts';
import { describeUnits } from '../view/describe.ts';
import { viewUnits } from '../view/view.ts';
import { adoptAnnotation, annotationFaults } from './annotations.ts';
import { createObject, fixedFields, fixedProblems, isReplaceable, recreate, statingOf } from './create-object.ts';
import { type Desired, problemAt, problemOf } from './desired.ts';
import type { Matched } from './identity.ts';
import { isRenewalDue, isRenewed, renewalFaults } from './renewal.ts';

/** What a source states, and how it wants it applied. */
export interface DocumentsInput extends RequestedOptions {
  readonly snapshot: Snapshot;
  readonly validator: Validator;
  readonly source: string;
  readonly documents: readonly Document[];
  /**
   * The documents that were applied last, when this very snapshot is what applying them left. Only what changed since is
   * then looked at; the plan is the same as without.
   */
  readonly since?: readonly Document[];
  /** ISO 8601 time that new and changed objects carry. */
  readonly now: string;
  newId(): string;
  readonly planEnvironment?: PlanEnvironment;
  readonly actor?: Actor;
  /** By id of an object: what uses it and is no object. */
  readonly alsoUsedBy?: ReadonlyMap<string, readonly string[]> | undefined;
  /** What the sources of the account want and could not have. */
  readonly claimed?: readonly PendingClaim[];
  /** It is to be applied, and not only looked at: what only a look may do is refused. */
  readonly isApply?: boolean;
  /** Files of documents for whose objects something was made that nobody has any more. */
  readonly lost?: ReadonlySet<string> | undefined;
  /** Files whose objects stay as they are: their documents are not among those that are planned. */
  readonly heldFiles?: ReadonlySet<string>;
  /** By which rules the files of the documents were chosen. */
  readonly rules?: readonly FileRules[] | undefined;
}

/** What every document of one plan is applied with. */
export interface Planning extends DocumentsInput {
  /** Ids of objects that the snapshot shows with another key than the account has. */
  readonly moved: ReadonlySet<string>;
  readonly contest: ClaimsOfOthers;
  /** The digest by which claimed values of an object are compared, by the path of their unit. */
  digest(kind: Kind, object: string, path: string, value: Json): string;
}

/** A matched object with its id, handed out before references are resolved. */
export interface Target extends Matched {
  readonly id: string;
  /** The id of the object that goes, because this one is re-created in its place. */
  readonly replaces?: string;
}

/** The effect of one document. */
interface Edited {
  readonly edit?: Edit;
  /** The object that goes for the one that the edit makes. */
  readonly gone?: StoredObject;
  /** What is wrong is that the object would have to be re-created, which could be done. */
  readonly replaceable?: true;
  readonly move?: Move;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Units that it claims and cannot have. */
  readonly claimedUnits?: readonly ClaimedUnit[];
}

/** What a document does to its object: an edit, a mere move, or problems. Yields now and then where it names much. */
export function* editTarget(input: Planning, target: Target, names: Names): Generator<undefined, Edited> {
  const { desired, existing } = target;
  const { registry } = input.snapshot;
  const resolved = yield* resolveReferences(registry, desired.kind, desired.spec, names);
  const parent = yield* parentId(desired, names);
  const { account, sealForm: form } = input.snapshot;
  // What is re-created takes its secrets along when it gets its id.
  const sealing = { account, object: existing?.id ?? target.id, form, before: existing?.spec };
  const { planEnvironment = emptyEnvironment } = input;
  const sealed = sealSecrets(desired.kind.spec, resolved.spec, sealing, planEnvironment, 'document');
  const canonical = canonicalStated(desired.kind, sealed.spec);
  const faults = [...resolved.faults, ...parent.faults, ...sealed.faults, ...canonical.faults];
  const notes = [
    ...annotationFaults(desired.kind, desired.annotations, planEnvironment),
    ...renewalFaults(desired.kind, desired.annotations, { ...existing?.spec, ...canonical.spec }),
  ].map((fault) => annotationProblem(desired, fault));
  const postponed = [...[...resolved.pending, ...parent.pending].map(waitingFor), ...resolved.former, ...parent.former];
  const warnings = yield* mapInSteps(postponed, (fault) => problemOf(desired, fault));
  if (faults.length + notes.length > 0) {
    const problems = yield* mapInSteps(faults, (fault) => problemOf(desired, fault));
    return { problems: [...problems, ...notes], warnings };
  }
  if (resolved.waits || parent.waits) return { problems: [], warnings };
  if (existing === undefined && statesOnly(desired.kind)) {
    return { problems: [], warnings: [...warnings, absent(desired)] };
  }
  const stated =
    parent.id === undefined ? canonical.spec : { ...canonical.spec, [desired.kind.parent?.field ?? '']: parent.id };
  if (existing === undefined) {
    const after = createObject(input, target, stated, parent.id);
    const contested = contestNew(input, desired, after, stated);
    return contested === undefined
      ? { edit: { after, place: desired.place, written: canonical }, problems: [], warnings }
      : { ...contested, warnings };
  }
  const updated = updateObject(input, target, names, existing, stated);
  const edit = updated.edit === undefined ? {} : { edit: { ...updated.edit, written: canonical } };
  return { ...updated, ...edit, warnings: [...warnings, ...updated.warnings] };
}

function waitingFor(fault: Fault): Fault {
  return {
    ...fault,
    code: 'reference_pending',
    message: `${fault.message}; it is applied when that object is there`,
  };
}

/** The problem when another source claims other values for a new object; `undefined` when none does. */
function contestNew(
  input: Planning,
  desired: Desired,
  after: StoredObject,
  stated: JsonObject,
): Pick<Edited, 'problems' | 'claimedUnits'> | undefined {
  const how = statingOf(input, desired);
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

function annotationProblem({ place, kind, key }: Desired, fault: Fault): Problem {
  return problemAt(place, '/metadata/annotations', { kind: kind.name, metadata: { name: key } }, fault);
}

/** The id of the parent, unless the child has to wait for it. */
function* parentId(
  desired: Desired,
  names: Names,
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
  target: Target,
  names: Names,
  existing: StoredObject,
  stated: JsonObject,
): Edited {
  const { desired } = target;
  const { snapshot, source } = input;
  const { adopt } = optionsOf(input, snapshot.settingsOf(source));
  const part = stateOnObject(statingOf(input, desired), desired, existing, stated);
  const { declaration, claimedUnits } = part;
  const conflicts = part.conflicts.map((conflict) => problemOf(desired, describeConflict(snapshot, conflict)));
  const fixed = fixedFields(desired.kind, existing, part.content.spec);
  if (target.replaces === undefined && fixed.length > 0) {
    const replaceable =
      conflicts.length === 0 && isReplaceable(input, target, existing) ? { replaceable: true as const } : {};
    return { problems: [...fixedProblems(desired, fixed), ...conflicts], warnings: [], claimedUnits, ...replaceable };
  }
  if (conflicts.length > 0) return { problems: conflicts, warnings: [], claimedUnits };
  const warnings = [
    ...part.left.map((left) => describeLeft(snapshot, left)),
    ...part.evicted.map((eviction) => describeEviction(snapshot, eviction)),
  ].map((fault) => problemOf(desired, fault));
  const before = existing.declared.find((item) => item.source === source);
  const keeping = keepingOf(source, target, existing);
  const same = equalContent(part.content, existing);
  const renews = isToRenew(input, desired, existing);
  const unchanged =
    same &&
    before !== undefined &&
    equalJson(before.stated, declaration.stated) &&
    before.exclusive === declaration.exclusive &&
    part.evicted.length === 0 &&
    part.overrides.length === (existing.overrides ?? []).length &&
    existing.key === desired.key &&
    isKept(keeping, existing) &&
    !input.moved.has(existing.id) &&
    !renews;
  if (unchanged) {
    const stays = before?.file === desired.place.file && before.line === desired.place.line;
    return { problems: [], warnings, ...(stays ? {} : { move: { object: existing, place: desired.place } }) };
  }
  const units = same ? [] : diffUnits(desired.kind.spec, existing, part.content);
  const equal = units.every((unit) => isHandover(desired.kind.spec, unit));
  if (target.adopted === 'by_name' && !equal && adopt !== 'take')
    return { problems: [differs(desired, existing, units, names)], warnings: [] };
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
    const edit = { after: recreated, place: desired.place, replaces: { id: existing.id, fields: fixed } };
    return { edit, gone: existing, problems: [], warnings };
  }
  const { resets, claimed } = part;
  const edit = { before: existing, after, place: desired.place, resets, claimed };
  return { edit: { ...edit, ...(renews ? { renews } : {}) }, problems: [], warnings };
}

/** What was made for the object ends soon, or was lost. */
function isToRenew({ now, lost }: Planning, { kind, annotations, place }: Desired, existing: StoredObject): boolean {
  if (lost?.has(place.file) === true && isRenewed(kind, annotations, existing)) return true;
  return isRenewalDue(kind, annotations, existing, now);
}

/** A document of a kind that documents do not make waits for its object. */
function absent(desired: Desired): Problem {
  const message = `there is no ${desired.kind.name} \`${desired.key}\` yet, and documents do not make one; it is applied when it is there`;
  return problemOf(desired, { code: 'object_pending', path: '', message });
}

/** The way out is one of three: take it, take this one, leave it. */
function differs(desired: Desired, existing: StoredObject, units: readonly UnitChange[], names: Names): Problem {
  const change = describeUnits(viewUnits(desired.kind.spec, units, (id) => names.label(id)));
  const message = `${desired.kind.name} \`${existing.name}\` exists already (id ${existing.id}), no source manages it, and taking it over would change it (${change}); make the document equal, take it over with --adopt=take or with the annotation ${adoptAnnotation}: "id:${existing.id}", or choose another name`;
  return problemOf(desired, { code: 'object_exists', path: '', message });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
