import type { Actor } from '../../model/declare/actor.ts';
import type { Fault, Kind, State } from '../../model/declare/kind.ts';
import { mayPerform, type Operation, type Subject } from '../../model/declare/roles.ts';
import { NotAllowed } from '../../model/errors.ts';
import type { Stored } from '../../model/state/stored.ts';
import type { Action } from '../plan.ts';

/**
 * Returns the subject whose rights count. For a user these are the rights at this moment; `undefined` when the user was
 * deleted or is blocked.
 */
function subjectOfActor(state: State, actor: Actor): Subject | undefined {
  if (actor.granted !== undefined) return { role: actor.granted, isServiceUser: false };
  const user = state.find('User', actor.id);
  return user === undefined || user.spec.is_blocked === true ? undefined : subjectOfUser(user);
}

/** Returns the rights of a user as stored. */
export function subjectOfUser({ spec }: Stored<'User'>): Subject {
  return { role: spec.role ?? '', isServiceUser: spec.is_service_user === true };
}

/**
 * Whether an actor may perform an operation in a module. Servers and sources always may: their actions were authorized
 * when they were set up.
 */
export function isAllowed(state: State, actor: Actor | undefined, module: string, operation: Operation): boolean {
  if (actor === undefined || actor.type !== 'user') return true;
  const subject = subjectOfActor(state, actor);
  return subject !== undefined && mayPerform(subject, module, operation);
}

const operationOf: Readonly<Record<Action, Operation>> = { create: 'create', update: 'update', delete: 'delete' };

/** Returns the fault of a change that its actor may not make; empty when allowed. */
export function rightFaults(state: State, actor: Actor | undefined, kind: Kind, action: Action): readonly Fault[] {
  const operation = operationOf[action];
  if (isAllowed(state, actor, kind.module, operation)) return [];
  return [{ code: 'not_allowed', path: '', message: refusal(state, actor, kind.module, operation) }];
}

/** Throws `NotAllowed` when an actor may not perform an operation in a module. */
export function requireRight(state: State, actor: Actor, module: string, operation: Operation): void {
  if (!isAllowed(state, actor, module, operation)) throw new NotAllowed(refusal(state, actor, module, operation));
}

/** Returns the message of a refusal, with the role and the operation. */
function refusal(state: State, actor: Actor | undefined, module: string, operation: Operation): string {
  const role = actor === undefined ? undefined : subjectOfActor(state, actor)?.role;
  if (role === undefined) return 'the user does not exist any more, or is blocked';
  const permitted = mayPerform({ role: 'admin', isServiceUser: false }, module, operation) ? 'an admin' : 'an owner';
  return `the role \`${role}\` may not ${operation} in \`${module}\`; ask ${permitted} of the account`;
}
