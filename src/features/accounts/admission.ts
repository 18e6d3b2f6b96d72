import type { SharedMutation } from '../../commit/commit-together.ts';
import { editDerivedFacts, planEdits } from '../../commit/edits.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import { credentialEntries } from '../../db/accounts/credentials.ts';
import type { AuditEntry } from '../../db/audit-entry.ts';
import type { ExtraWrite } from '../../db/commit/commit-together.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { NotFound } from '../../model/errors.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { contextOf, errorForProblems, type WriteOptions, type WriteResult } from '../../objects/objects.ts';
import { withCommits } from '../../objects/with-commits.ts';
import { planCreate, type RequestOutcome } from '../../plan/requests/requests.ts';
import { commitAcrossAccounts } from './tenants/steps.ts';

/** Kind of the users of an account. */
export const userKind = 'User';

/** A request to create a user that the rules have accepted. */
export interface NewUserRequest {
  readonly id: string;
  /** E-mail address as the caller wrote it; empty for service users. */
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly groups: readonly string[];
  readonly body: JsonObject;
  readonly options: WriteOptions;
}

/**
 * Reads the body of a request to create a user. Throws its problems when the rules do not permit it in the current
 * state of the account.
 */
export async function readNewUser(
  engine: Engine,
  call: Call,
  body: JsonObject,
  options: WriteOptions,
): Promise<NewUserRequest> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const outcome = planCreate(contextOf(engine, call, state, options), engine.registry.get(userKind), body);
  if (!outcome.ok) throw errorForProblems(await withCommits(engine, call.account, outcome.problems));
  const { spec, name } = requireUser(outcome.next, outcome.id);
  const { email = '', role = '', auto_groups: groups = [] } = spec;
  return { id: outcome.id, email, name, role, groups, body, options };
}

/** Further writes and conditions of the commit that creates or activates a user. */
export interface UserAdmission {
  readonly extraWrites: readonly ExtraWrite[];
  /** Whether the commit makes the person findable by their e-mail address. */
  readonly isFindable: boolean;
  /** Values that the server decides. */
  readonly derived?: JsonObject;
  /** Audit events in addition to the event of the user. */
  readonly events?: readonly AuditEvent[];
  /** Throws when the state of the account at the commit does not permit the change. */
  check?(state: Snapshot): void;
  /** Set when the server creates the user without a caller. */
  readonly isByServer?: true;
}

/** Creates the user and their means to sign in, in one commit. */
export async function admitUser(
  engine: Engine,
  call: Call,
  request: NewUserRequest,
  admission: UserAdmission,
): Promise<WriteResult> {
  const { id, email, body, options } = request;
  const { account } = call;
  const { derived = {}, isByServer } = admission;
  let outcome: RequestOutcome | undefined;
  const state = await commitAcrossAccounts(
    engine,
    call,
    {
      ...commonMutation(account, email, id, admission),
      propose: (stateOf) => {
        admission.check?.(stateOf(account));
        const { actor, ...context } = contextOf(engine, call, stateOf(account), options);
        const by = isByServer === true || actor === undefined ? {} : { actor };
        const kind = engine.registry.get(userKind);
        outcome = planCreate({ ...context, ...by }, kind, body, undefined, { id, derived });
        return { [account]: outcome };
      },
    },
    takenText(email),
  );
  return { object: requireUser(state, id), state, ignored: outcome?.ignored ?? [], outputs: {} };
}

/** Activates an invited user, together with the other writes of `admission`. */
export async function activateInvitedUser(
  engine: Engine,
  call: Call,
  user: string,
  admission: UserAdmission,
): Promise<void> {
  const { account } = call;
  const { spec } = requireUser(await engine.snapshots.atLeast(account, call.revision), user);
  const email = spec.email ?? '';
  await commitAcrossAccounts(
    engine,
    call,
    {
      ...commonMutation(account, email, user, admission),
      propose: (stateOf) => {
        const state = stateOf(account);
        admission.check?.(state);
        return {
          [account]: planEdits(engine, state, [
            editDerivedFacts(engine, requireUser(state, user), { status: 'active' }),
          ]),
        };
      },
    },
    takenText(email),
  );
}

function commonMutation(
  account: string,
  email: string,
  user: string,
  { extraWrites, isFindable, events = [] }: UserAdmission,
): Pick<SharedMutation, 'accounts' | 'entries' | 'extraWrites' | 'events'> {
  const entries = isFindable ? credentialEntries(account, email, user) : [];
  return { accounts: [account], entries, extraWrites: () => extraWrites, events: { [account]: events } };
}

function takenText(email: string): string {
  return `a user with the e-mail address ${email} already exists; choose another one`;
}

/** Returns a user by id. Throws `NotFound`. */
export function requireUser(state: Snapshot, id: string): Stored<'User'> {
  const user = state.find(userKind, id);
  if (user === undefined) throw new NotFound(`user ${id} not found`);
  return user;
}

/** Returns the audit event of an action of the caller that makes no revision. */
export function auditEntry({ actor }: Call, at: string, event: AuditEvent): AuditEntry {
  return { actor, at, event };
}
