import { equalJson, type JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { emptyEnvironment } from '../../model/declare/plan-environment.ts';
import type { Problem } from '../../model/problem.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import { canonicalSpec } from '../../model/schema/normalize.ts';
import { mapSecrets, openSecret, sealContextOf, toStoredSecret } from '../../model/schema/secret-fields.ts';
import { apiOrigin, contentFromSpec, emptyContent } from '../../model/state/members.ts';
import { type StoredObject, uncommittedMembers } from '../../model/state/object.ts';
import { effectiveOptions } from '../options.ts';
import { sourceOrigin } from '../ownership/membership.ts';
import { ownershipOfNew } from '../ownership/ownership.ts';
import { declarationOf, type StatingContext } from '../ownership/state-on-object.ts';
import { isPrunable } from './annotations.ts';
import { type DesiredObject, problemOf } from './desired.ts';
import type { MatchedDocument, Planning } from './stated-object.ts';

/** Returns the settings by which the source of the plan states units of an object. */
export function statingContextOf(input: Planning, { kind, key }: DesiredObject): StatingContext {
  const { source, snapshot, force = false, now, digest } = input;
  const stored = snapshot.settingsOf(source);
  const settings = { ...stored, membership: effectiveOptions(input, stored).membership };
  return { source, settings, force, now, digest, claimed: input.contest.unitsOf(kind.name, key) };
}

/** Returns the object that a document creates. */
export function createObject(
  input: Planning,
  target: MatchedDocument,
  stated: JsonObject,
  parent: string | undefined,
): StoredObject {
  const { desired } = target;
  const how = statingContextOf(input, desired);
  const origin = how.settings.conflictMode === 'seed' ? apiOrigin : sourceOrigin;
  const content = contentFromSpec(desired.kind.spec, canonicalSpec(desired.kind, stated).spec, emptyContent, origin);
  return {
    id: target.id,
    kind: desired.kind.name,
    ...(parent === undefined ? {} : { parent }),
    key: desired.key,
    name: String(content.spec[desired.kind.nameField] ?? desired.key),
    ...content,
    derived: {},
    ...uncommittedMembers(input.now),
    ...ownershipOfNew(input.source, desired),
    declared: [declarationOf(how, desired, stated)],
  };
}

/** Returns the object under another id, as if it were created now. Values that no source states are kept. */
export function recreate(input: Planning, { id, desired }: MatchedDocument, object: StoredObject): StoredObject {
  const { source, now } = input;
  const { owner: _, spec, declared, ...rest } = object;
  const move = (stated: JsonObject) => resealSecrets(input, desired.kind, stated, object.id, id);
  const { protected: isProtected, owner } = ownershipOfNew(source, desired);
  return {
    ...rest,
    id,
    spec: move(spec),
    declared: declared.map((declaration) => ({ ...declaration, stated: move(declaration.stated) })),
    derived: {},
    ...(owner === undefined ? {} : { owner }),
    protected: isProtected,
    createdRevision: 0,
    updatedRevision: 0,
    createdAt: now,
    updatedAt: now,
  };
}

/** Seals the secrets of a spec for another object, because sealed secrets are bound to their object. */
function resealSecrets(
  { snapshot: { account, sealForm }, planEnvironment = emptyEnvironment }: Planning,
  { spec: fields }: Kind,
  spec: JsonObject,
  from: string,
  to: string,
): JsonObject {
  const { vault } = planEnvironment;
  return mapSecrets(fields, spec, (stored, path, field) => {
    const text = openSecret(field, stored, sealContextOf(account, from, path), vault);
    return toStoredSecret(field, text, sealContextOf(account, to, path), { vault, form: sealForm });
  });
}

/** Whether a document may have its object re-created: only when the source owns its life cycle or adopts it. */
export function isReplaceable(
  { source, snapshot, ...input }: Planning,
  { desired, adopted }: MatchedDocument,
  { owner }: StoredObject,
): boolean {
  const { adopt } = effectiveOptions(input, snapshot.settingsOf(source));
  return isPrunable(desired.kind) && (owner ?? source) === source && (adopted !== 'by_name' || adopt === 'take');
}

/** Returns the names of `createOnly` fields that would change. */
export function changedCreateOnlyFields(
  { spec: fields }: Kind,
  existing: StoredObject,
  spec: JsonObject,
): readonly string[] {
  return entriesOf(fields)
    .filter(([name, field]) => field.access === 'createOnly' && !equalJson(existing.spec[name], spec[name]))
    .map(([name]) => name);
}

/** Returns the problems of changed `createOnly` fields. */
export function createOnlyProblems(desired: DesiredObject, names: readonly string[]): readonly Problem[] {
  const wayOut = isPrunable(desired.kind) ? ', have the object re-created with --allow-replace' : '';
  return names.map((name) =>
    problemOf(desired, {
      code: 'field_fixed',
      path: `/${name}`,
      message: `\`${name}\` can only be set when the object is created; undo the change${wayOut}, or give the document another metadata.name to create a new ${desired.kind.name}`,
    }),
  );
}
