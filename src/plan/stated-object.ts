import { equalJson, type JsonObject } from '../lib/json.ts';
import type { Actor } from '../model/actor.ts';
import { canonicalSpec, canonicalStated } from '../model/canonical.ts';
import type { Document } from '../model/document.ts';
import { entriesOf } from '../model/field.ts';
import { type Fault, statesOnly } from '../model/kind.ts';
import { bareMeans, type Means } from '../model/means.ts';
import type { StoredObject } from '../model/object.ts';
import type { Problem } from '../model/problem.ts';
import { sealSecrets } from '../model/secrets.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { diffUnits, isHandover } from '../model/units.ts';
import type { Validator } from '../model/validate.ts';
import { type Desired, problemAt } from './desired.ts';
import type { Edit } from './finish.ts';
import { adoptAnnotation, type Matched } from './identity.ts';
import type { Move } from './plan.ts';
import { type Names, type Resolved, resolveReferences } from './resolve.ts';
import { sourceOrigin, stateUnits, withSourceOrigins } from './state-units.ts';

/** What a source states, and how it wants it applied. */
export interface DocumentsInput {
  readonly snapshot: Snapshot;
  readonly validator: Validator;
  readonly source: string;
  readonly documents: readonly Document[];
  /**
   * The documents that were applied last, when this very snapshot is what applying them left. Only what changed since is
   * then looked at; the plan is the same as without.
   */
  readonly since?: readonly Document[];
  readonly prune: boolean;
  readonly allowEmpty: boolean;
  /** ISO 8601 time that new and changed objects carry. */
  readonly now: string;
  newId(): string;
  readonly means?: Means;
  readonly actor?: Actor;
}

/** The annotation that protects an object from deletion by sources. */
const protectAnnotation = 'heddle.dev/prevent-delete';

/** A matched object with its id, handed out before references are resolved. */
export interface Target extends Matched {
  readonly id: string;
}

/** The effect of one document. */
interface Edited {
  readonly edit?: Edit;
  readonly move?: Move;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** What a document does to its object: an edit, a mere move, or problems. */
export function editTarget(input: DocumentsInput, target: Target, names: Names): Edited {
  const { desired, existing } = target;
  const { registry } = input.snapshot;
  const resolved = resolveReferences(registry, desired.kind, desired.spec, names);
  const parent = parentId(desired, names);
  const sealed = sealSecrets(desired.kind.spec, resolved.spec, existing?.spec, input.means ?? bareMeans, 'document');
  const canonical = canonicalStated(desired.kind, sealed.spec);
  const faults = [...resolved.faults, ...parent.faults, ...sealed.faults, ...canonical.faults];
  const warnings = [...resolved.pending, ...parent.pending].map((fault) =>
    problemOf(desired, {
      ...fault,
      code: 'reference_pending',
      message: `${fault.message}; it is applied when that object is there`,
    }),
  );
  if (faults.length > 0) return { problems: faults.map((fault) => problemOf(desired, fault)), warnings };
  if (resolved.waits || parent.waits) return { problems: [], warnings };
  if (existing === undefined && statesOnly(desired.kind)) {
    return { problems: [], warnings: [...warnings, absent(desired)] };
  }
  const stated =
    parent.id === undefined ? canonical.spec : { ...canonical.spec, [desired.kind.parent?.field ?? '']: parent.id };
  if (existing === undefined)
    return {
      edit: { after: createObject(input, target, stated, parent.id), place: desired.place },
      problems: [],
      warnings,
    };
  return { ...updateObject(input, target, existing, stated), warnings };
}

/** The id of the parent, unless the child has to wait for it. */
function parentId(
  desired: Desired,
  names: Names,
): Pick<Resolved, 'faults' | 'pending' | 'waits'> & { readonly id?: string } {
  const parent = desired.kind.parent;
  if (parent === undefined || desired.parent === undefined) return { faults: [], pending: [], waits: false };
  const resolved = resolveReferences(
    names.snapshot.registry,
    { ...desired.kind },
    { [parent.field]: desired.parent },
    names,
  );
  const id = resolved.spec[parent.field];
  return { ...resolved, ...(typeof id === 'string' ? { id } : {}) };
}

function createObject(
  input: DocumentsInput,
  target: Target,
  stated: JsonObject,
  parent: string | undefined,
): StoredObject {
  const { desired } = target;
  const spec = withSourceOrigins(desired.kind.spec, canonicalSpec(desired.kind, stated).spec, sourceOrigin);
  return {
    id: target.id,
    kind: desired.kind.name,
    ...(parent === undefined ? {} : { parent }),
    key: desired.key,
    name: String(spec[desired.kind.nameField] ?? desired.key),
    spec,
    derived: {},
    owner: input.source,
    protected: isProtected(desired),
    createdRevision: 0,
    updatedRevision: 0,
    createdAt: input.now,
    updatedAt: input.now,
    declared: [{ source: input.source, stated, file: desired.place.file, line: desired.place.line }],
  };
}

function updateObject(
  input: DocumentsInput,
  target: Target,
  existing: StoredObject,
  stated: JsonObject,
): Omit<Edited, 'warnings'> {
  const { desired } = target;
  const result = stateUnits(desired.kind.spec, existing, input.source, stated);
  const fixed = fixedProblems(desired, existing, result.spec);
  if (fixed.length > 0) return { problems: fixed };
  if (result.conflicts.length > 0) {
    const problems = result.conflicts.map(({ path, source, file, line }) =>
      problemOf(desired, {
        code: 'unit_conflict',
        path: `/${path.split(/[.[]/)[0]}`,
        message: `${path} is stated with another value by the source ${source} at ${file}:${line}; agree on one value, or state it in one place only`,
      }),
    );
    return { problems };
  }
  const before = existing.declared.find((declaration) => declaration.source === input.source);
  // A shared row of protection outlives its document for one revision: clearing it is a change of its own.
  const protection =
    existing.owner === input.source || existing.owner === undefined ? isProtected(desired) : existing.protected;
  const same = result.spec === existing.spec || equalJson(result.spec, existing.spec);
  const unchanged =
    same &&
    before !== undefined &&
    equalJson(before.stated, stated) &&
    existing.key === desired.key &&
    protection === existing.protected;
  if (unchanged) {
    const stays = before?.file === desired.place.file && before.line === desired.place.line;
    return { problems: [], ...(stays ? {} : { move: { object: existing, place: desired.place } }) };
  }
  const units = same ? [] : diffUnits(desired.kind.spec, existing.spec, result.spec);
  const equal = units.every((unit) => isHandover(desired.kind.spec, unit));
  if (target.adopted === 'by_name' && !equal) return { problems: [differs(desired, existing)] };
  const after: StoredObject = {
    ...existing,
    key: desired.key,
    name: String(result.spec[desired.kind.nameField] ?? desired.key),
    spec: result.spec,
    protected: protection,
    updatedAt: equal ? existing.updatedAt : input.now,
    declared: [
      ...existing.declared.filter((declaration) => declaration.source !== input.source),
      { source: input.source, stated, file: desired.place.file, line: desired.place.line },
    ].sort((a, b) => compare(a.source, b.source)),
  };
  return { edit: { before: existing, after, place: desired.place, resets: result.resets }, problems: [] };
}

/** A document of a kind that documents do not make waits for its object. */
function absent(desired: Desired): Problem {
  const message = `there is no ${desired.kind.name} \`${desired.key}\` yet, and documents do not make one; it is applied when it is there`;
  return problemOf(desired, { code: 'object_pending', path: '', message });
}

/** What only creation writes stays as it is. */
function fixedProblems(desired: Desired, existing: StoredObject, spec: JsonObject): readonly Problem[] {
  return entriesOf(desired.kind.spec)
    .filter(([name, field]) => field.access === 'createOnly' && !equalJson(existing.spec[name], spec[name]))
    .map(([name]) =>
      problemOf(desired, {
        code: 'field_fixed',
        path: `/${name}`,
        message: `\`${name}\` can only be set when the object is made; undo the change, or give the document another metadata.name to make a new ${desired.kind.name}`,
      }),
    );
}

function differs(desired: Desired, existing: StoredObject): Problem {
  const message = `${desired.kind.name} \`${existing.name}\` exists already (id ${existing.id}) and differs; take it with the annotation ${adoptAnnotation}: "id:${existing.id}", make the document equal, or choose another name`;
  return problemOf(desired, { code: 'object_exists', path: '', message });
}

function isProtected(desired: Desired): boolean {
  return desired.annotations[protectAnnotation] === 'true';
}

/** The problem of a fault in the canonical spec, placed where the input says it. */
export function problemOf(desired: Desired, fault: Fault): Problem {
  return problemAt(desired.place, desired.pointer, { kind: desired.kind.name, metadata: { name: desired.key } }, fault);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
