import { ensureOperatorAccount } from '../db/accounts/operator.ts';
import { findRevision } from '../db/commit/accounts.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Actor } from '../model/declare/actor.ts';
import { contentFromSpec } from '../model/state/members.ts';
import { type StoredObject, uncommittedMembers } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { finishPlan } from '../plan/finish.ts';
import type { Engine } from './engine.ts';

/** An object of a new account, without revisions and times. */
export interface FirstObject {
  readonly id: string;
  readonly kind: string;
  readonly key?: string;
  readonly spec: JsonObject;
  readonly derived: JsonObject;
}

/**
 * Returns the operator's account. On a server without accounts, creates it with its first objects. Returns `undefined`
 * when there are accounts and none of them is recorded or named as the operator's. Any number of servers may start at
 * once. Throws `InvalidInput` when the settings name an account that does not exist.
 */
export async function bootstrapAccount(
  engine: Engine,
  actor: Actor,
  firstObjects: (account: string) => readonly FirstObject[],
  named?: string,
): Promise<{ readonly account: string; readonly created: boolean } | undefined> {
  const now = engine.now();
  const account = await ensureOperatorAccount(engine.database, { newId: engine.newId(), at: now, configuredId: named });
  if (account === undefined) return undefined;
  if (((await findRevision(engine.database, account)) ?? 0) > 0) return { account, created: false };
  const committed = await engine.committer.mutate({
    account,
    actor,
    revision: 0,
    propose: (state) =>
      finishPlan({
        snapshot: state,
        // Another server may have created the objects first. After a start that was killed before this commit, the
        // account exists without them.
        edits:
          state.size > 0 ? [] : firstObjects(account).map((object) => ({ after: storedObject(engine, object, now) })),
        locate: (object, fault) => ({ code: fault.code, kind: object.kind, key: object.name, message: fault.message }),
        newId: engine.newId,
      }),
  });
  if (!committed.ok)
    throw new Error(
      `the objects of a new account break the rules: ${committed.problems.map(({ message }) => message).join('; ')}`,
    );
  return { account, created: committed.revision !== undefined };
}

/** Returns an object in its stored form. The plan sets its revisions. */
export function storedObject(
  engine: Pick<Engine, 'registry'>,
  object: FirstObject & { readonly parent?: string },
  now: string,
): StoredObject {
  const kind = engine.registry.get(object.kind);
  return {
    ...object,
    ...contentFromSpec(kind.spec, object.spec),
    name: String(object.spec[kind.nameField] ?? object.key ?? ''),
    ...uncommittedMembers(now),
  };
}

/** Returns the oldest owner of an account that is not blocked. */
export function findOwner(state: Snapshot): StoredObject | undefined {
  return state.ofKind('User').find((user) => user.spec.role === 'owner' && user.spec.is_blocked !== true);
}
