import type { JsonObject } from '../../lib/json.ts';
import { canOnlyStateExisting, type Kind } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { secretsOf } from '../../model/schema/secret-fields.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { withoutSourceOrigins } from '../ownership/membership.ts';
import { overridesMember, remainingOverrides, withoutOverrides } from '../ownership/overrides.ts';
import { type ObjectRollback, objectProblem, type RollbackTarget } from './object.ts';
import { includesSource } from './scope.ts';

const noEffect: ObjectRollback = { problems: [], warnings: [] };

/** Re-creates a deleted object with its former id. Credentials that grant access on their own are not restored. */
export function restoreDeleted(way: RollbackTarget, kind: Kind, was: StoredObject): ObjectRollback {
  const declared = was.declared.filter(({ source }) => includesSource(way.scope, source));
  if (was.owner !== undefined && !includesSource(way.scope, was.owner))
    return leftUnchanged(
      was,
      'object_transferred',
      `belonged to the source ${was.owner} and is not restored by this rollback`,
    );
  if (way.scope !== 'all' && declared.length === 0) return noEffect;
  if (canOnlyStateExisting(kind))
    return leftUnchanged(
      was,
      'object_pending',
      'does not exist any more, and neither documents nor a rollback create it; it must be created in its usual way',
    );
  if (kind.credential === 'itself')
    return leftUnchanged(
      was,
      'credential_not_restored',
      'was deleted and is not restored: everyone who kept its value would get access again; make a new one',
    );
  const { overrides: _, owner, ...rest } = was;
  const content = withoutSourceOrigins(kind.spec, withoutOverrides(kind.spec, was), declared);
  const after: StoredObject = {
    ...rest,
    ...(declared.some(({ source }) => source === owner) ? { owner } : {}),
    ...content,
    derived: withoutCredentialFacts(kind, was),
    declared,
    updatedAt: way.now,
  };
  return { edit: { after, restores: was }, problems: [], warnings: restoreWarnings(way, kind, after) };
}

/** Returns the derived values without those about the former credentials, so that a user is invited again. */
function withoutCredentialFacts({ credentialFacts = [] }: Kind, { derived }: StoredObject): JsonObject {
  return Object.fromEntries(Object.entries(derived).filter(([name]) => !credentialFacts.includes(name)));
}

/** Returns warnings for an object that is restored incompletely, or with secrets that may be out of date. */
function restoreWarnings({ revision }: RollbackTarget, kind: Kind, object: StoredObject): readonly Problem[] {
  const name = `${object.kind} ${object.key ?? object.name}`;
  const warnings: Problem[] = [];
  if (kind.credential === 'beside') {
    const message = `${name} is restored without the tokens and passwords that it had; make new ones`;
    warnings.push(objectProblem(object, 'credential_not_restored', message));
  }
  if (secretsOf(kind.spec, object.spec).length > 0) {
    const message = `${name} is restored with the secrets that it had at revision ${revision}; check whether they are still valid`;
    warnings.push(objectProblem(object, 'credential_old', message));
  }
  return warnings;
}

/** Deletes an object that was created since, if the scope covers it. Otherwise the sources in scope only release it. */
export function removeCreated(way: RollbackTarget, kind: Kind, is: StoredObject): ObjectRollback {
  const others = is.declared.filter(({ source }) => !includesSource(way.scope, source));
  const isOurs =
    others.length === 0 && (is.owner === undefined ? way.scope === 'all' : includesSource(way.scope, is.owner));
  if (isOurs && canOnlyStateExisting(kind)) return release(way, kind, is);
  if (isOurs && is.declared.length === 0 && kind.credential === 'beside')
    return leftUnchanged(
      is,
      'object_kept',
      'was created since then and belongs to no source; it stays, delete it by hand if it is not needed',
    );
  return isOurs ? { edit: { before: is }, problems: [], warnings: [] } : release(way, kind, is);
}

/** Releases the object from all sources in scope. Its values are kept. */
function release({ scope }: RollbackTarget, kind: Kind, is: StoredObject): ObjectRollback {
  const declared = is.declared.filter(({ source }) => !includesSource(scope, source));
  const isTheirs = is.owner !== undefined && !includesSource(scope, is.owner);
  if (declared.length === is.declared.length && (isTheirs || is.owner === undefined)) return noEffect;
  const { owner, key, overrides: _, ...rest } = is;
  const next = isTheirs ? owner : declared[0]?.source;
  const named = declared.length > 0 || kind.singleton !== undefined || canOnlyStateExisting(kind);
  const after: StoredObject = {
    ...rest,
    ...(next === undefined || (owner === undefined && !isTheirs) ? {} : { owner: next }),
    ...(named && key !== undefined ? { key } : {}),
    ...withoutSourceOrigins(kind.spec, is, declared),
    ...overridesMember(remainingOverrides(kind.spec, is, declared)),
    declared,
  };
  return { edit: { before: is, after }, problems: [], warnings: [] };
}

function leftUnchanged(object: StoredObject, code: ProblemCode, what: string): ObjectRollback {
  const message = `${object.kind} ${object.key ?? object.name} ${what}`;
  return { problems: [], warnings: [objectProblem(object, code, message)] };
}
