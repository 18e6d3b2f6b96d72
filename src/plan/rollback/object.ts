import { equalJson, type Json } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import type { Fields } from '../../model/schema/field.ts';
import { withSecretsOf } from '../../model/schema/kept-secrets.ts';
import { secretsOf, secretsOfUnit } from '../../model/schema/secret-fields.ts';
import { writtenFormOf } from '../../model/schema/written-form.ts';
import { type Content, completeSpec, imageOf, type ObjectImage } from '../../model/state/members.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import { applyUnits, diffUnits, type UnitChange, unitsOf } from '../../model/state/units.ts';
import type { Edit } from '../finish.ts';
import { loosensRestriction } from '../ownership/failsafe.ts';
import { fieldNameOf, isMember, sourceOrigin } from '../ownership/membership.ts';
import { describeOverride, liveOverride, withoutOverrides } from '../ownership/overrides.ts';
import { specWithStatedSecrets } from '../ownership/stated-secrets.ts';
import { restoreEnvelope } from './envelope.ts';
import { includesSource, type RollbackScope } from './scope.ts';

/** Effect of a rollback on one object, with problems and warnings. */
export interface ObjectRollback {
  readonly edit?: Edit;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Target state and scope of a rollback. */
export interface RollbackTarget {
  readonly scope: RollbackScope;
  /** Revision whose state is restored. */
  readonly revision: number;
  /** Time of the rollback, in ISO 8601. */
  readonly now: string;
}

/** Returns a problem about an object. */
export function objectProblem(
  { kind, key, name }: StoredObject,
  code: ProblemCode,
  message: string,
  path?: string,
): Problem {
  const at = path === undefined ? {} : { path: `/${fieldNameOf(path)}` };
  return { code, kind, key: key ?? name, ...at, message };
}

/**
 * Restores the former values of the units in scope, the declarations of the sources in scope, and the owner of an
 * object.
 */
export function restoreChanged(way: RollbackTarget, kind: Kind, was: StoredObject, is: StoredObject): ObjectRollback {
  const owner = is.owner !== undefined && !includesSource(way.scope, is.owner) ? is.owner : undefined;
  if (owner !== undefined && was.owner !== owner && was.owner !== undefined) {
    const message = `${is.kind} ${is.key ?? is.name} now belongs to the source ${owner} and stays unchanged`;
    return { problems: [], warnings: [objectProblem(is, 'object_transferred', message)] };
  }
  const declared = restoredDeclarations(way.scope, was, is);
  const found = restoredUnits(way, kind, was, is, declared);
  const content = applyUnits(kind.spec, is, found.changes);
  const kept = withPresentSecrets(kind.spec, declared, { ...is, ...content });
  const after = restoreEnvelope(way, kind, { was, is }, { content, declared: kept });
  return {
    ...(isSame(is, after) ? {} : { edit: { before: is, after, written: writtenBy(was) } }),
    problems: found.problems,
    warnings: found.warnings,
  };
}

/** Returns the former declarations of the sources in scope, and the present declarations of the other sources. */
function restoredDeclarations(scope: RollbackScope, was: StoredObject, is: StoredObject): readonly Declaration[] {
  return [
    ...was.declared.filter(({ source }) => includesSource(scope, source)),
    ...is.declared.filter(({ source }) => !includesSource(scope, source)),
  ].sort((a, b) => (a.source < b.source ? -1 : 1));
}

/** Replaces the secrets in declarations by those that the declarations of the object have now: a rollback keeps them. */
function withPresentSecrets(
  fields: Fields,
  declared: readonly Declaration[],
  object: StoredObject,
): readonly Declaration[] {
  return declared.map((declaration) => {
    const present = specWithStatedSecrets(fields, object, declaration.source);
    const stated = withSecretsOf(fields, declaration.stated, present);
    return stated.replaced.length === 0 ? declaration : { ...declaration, stated: stated.spec };
  });
}

interface RestoredUnits {
  readonly changes: UnitChange[];
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

function restoredUnits(
  way: RollbackTarget,
  kind: Kind,
  was: StoredObject,
  is: StoredObject,
  declared: readonly Declaration[],
): RestoredUnits {
  const fields = kind.spec;
  const stated = withoutOverrides(fields, was);
  const { spec, replaced } = withSecretsOf(fields, stated.spec, is.spec);
  const content = { ...stated, spec };
  const reach = unitPathsInScope(way.scope, fields, was, is, content);
  const [past, current] = [unitsOf(fields, completeSpec(content)), unitsOf(fields, completeSpec(is))];
  const known = new Set(secretsOf(fields, is.spec));
  const found: RestoredUnits = { changes: [], problems: [], warnings: [] };
  for (const path of reach) {
    const before = current.get(path);
    const after = isMember(fields, path)
      ? restoredOrigins(way.scope, fields, path, { past: past.get(path), current: before }, declared)
      : past.get(path);
    if (equalJson(before, after)) continue;
    const why = unrestorableWarning(way, kind, is, { path, before, after }, known);
    if (why !== undefined) found.warnings.push(why);
    else found.changes.push({ path, ...(after === undefined ? {} : { after }) });
    const other = why === undefined ? conflictingSourceProblem(way.scope, fields, is, path, after) : undefined;
    if (other !== undefined) found.problems.push(other);
  }
  for (const name of replaced) {
    if (![...reach].some((path) => fieldNameOf(path) === name)) continue;
    const message = `the secret in ${name} of ${is.kind} ${is.key ?? is.name} stays unchanged; a rollback never restores a former secret`;
    found.warnings.push(objectProblem(is, 'credential_kept', message, name));
  }
  return found;
}

/**
 * Returns the paths of the units to restore: with scope `all`, every unit that users can write; otherwise, units that
 * sources in scope stated then or state now.
 */
function unitPathsInScope(
  scope: RollbackScope,
  fields: Fields,
  was: StoredObject,
  is: StoredObject,
  past: Content,
): ReadonlySet<string> {
  if (scope === 'all') {
    const paths = diffUnits(fields, is, past).map(({ path }) => path);
    return new Set(paths.filter((path) => isWritable(fields, path)));
  }
  const declared = [...was.declared, ...is.declared].filter(({ source }) => includesSource(scope, source));
  return new Set(declared.flatMap(({ stated }) => [...unitsOf(fields, stated).keys()]));
}

function isWritable(fields: Fields, path: string): boolean {
  const { access = 'declared' } = fields[fieldNameOf(path)] ?? {};
  return access !== 'server' && access !== 'createOnly';
}

/**
 * Returns the restored origins of a member: the source origin if restored declarations state it, the API origin as it
 * was if the scope is `all`, and every other origin as it is now.
 */
function restoredOrigins(
  scope: RollbackScope,
  fields: Fields,
  path: string,
  { past, current }: { readonly past: Json | undefined; readonly current: Json | undefined },
  declared: readonly Declaration[],
): Json | undefined {
  const isStated = declared.some(({ stated }) => unitsOf(fields, stated).has(path));
  const then = textsOf(past).filter((origin) => scope === 'all' && origin === 'api');
  const now = textsOf(current).filter((origin) => origin !== sourceOrigin && !(scope === 'all' && origin === 'api'));
  const origins = [...new Set([...(isStated ? [sourceOrigin] : []), ...then, ...now])].sort();
  return origins.length === 0 ? undefined : origins;
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/**
 * Returns a warning when a unit cannot be restored: it is overridden, its value is restrictive, or its former value
 * contains a former secret.
 */
function unrestorableWarning(
  { now }: RollbackTarget,
  kind: Kind,
  is: StoredObject,
  {
    path,
    before,
    after,
  }: { readonly path: string; readonly before: Json | undefined; readonly after: Json | undefined },
  known: ReadonlySet<string>,
): Problem | undefined {
  const name = `${path} of ${is.kind} ${is.key ?? is.name}`;
  const override = liveOverride(is.overrides, path, now);
  if (override !== undefined)
    return objectProblem(
      is,
      'unit_overridden',
      `${name} is overridden ${describeOverride(override)} and stays overridden`,
      path,
    );
  if (loosensRestriction(kind, path, before, after)) {
    const message = `${name} keeps its value, because it is a restriction, which a rollback does not undo; undo it through the API`;
    return objectProblem(is, 'failsafe_kept', message, path);
  }
  if (secretsOfUnit(kind.spec, path, after).every((text) => known.has(text))) return undefined;
  const message = `${name} keeps its value, because its former value contained a secret that does not exist any more; a rollback never restores such a secret`;
  return objectProblem(is, 'credential_kept', message, path);
}

/** Returns a problem when a source out of scope states a value other than the restored value. */
function conflictingSourceProblem(
  scope: RollbackScope,
  fields: Fields,
  is: StoredObject,
  path: string,
  after: Json | undefined,
): Problem | undefined {
  if (isMember(fields, path)) return undefined;
  const other = is.declared.find(({ source, stated }) => {
    const value = includesSource(scope, source) ? undefined : unitsOf(fields, stated).get(path);
    return value !== undefined && !equalJson(value, after);
  });
  if (other === undefined) return undefined;
  const message = `${path} of ${is.kind} ${is.key ?? is.name} would return to a value that differs from what the source ${other.source} states at ${other.file}:${other.line}; roll that source back too, or change it there`;
  return objectProblem(is, 'unit_conflict', message, path);
}

/** Returns how the texts and values that return were written. The order of lists is not restored. */
function writtenBy(was: StoredObject): NonNullable<Edit['written']> {
  return { spec: completeSpec(was), order: {}, ...writtenFormOf(was) };
}

/** Compares objects without the positions of their declarations and the time of their last change. */
function isSame(a: StoredObject, b: StoredObject): boolean {
  const plain = ({ declared, updatedAt: _, ...object }: ObjectImage): Json => ({
    ...object,
    declared: declared.map(({ source, stated, exclusive = false }) => ({ source, stated, exclusive })),
  });
  return equalJson(plain(imageOf(a)), plain(imageOf(b)));
}
