import { extraSettingsOf } from '../../commit/account-settings.ts';
import { storedObject } from '../../commit/bootstrap.ts';
import type { SharedMutation } from '../../commit/commit-together.ts';
import { editDerivedFacts, planEdits } from '../../commit/edits.ts';
import type { Engine } from '../../commit/engine.ts';
import { subjectsOf } from '../../db/accounts/identities.ts';
import { NotAllowed } from '../../model/errors.ts';
import { canonicalSpec } from '../../model/schema/normalize.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../model/state/snapshot.ts';
import { errorForProblems } from '../../objects/objects.ts';
import type { Edit } from '../../plan/finish.ts';
import { domainEntryKind } from './tenants/steps.ts';

/** A person who signs in for the first time. */
export interface UnknownPerson {
  readonly issuer: string;
  readonly subject: string;
  /** Empty when the address is unknown. */
  readonly email: string;
  /** Whether the identity provider states that the address belongs to the person. */
  readonly emailVerified: boolean;
  readonly name: string;
}

/** Result of a first sign-in. `taken`: a concurrent sign-in was faster, so the caller must look for the user again. */
export type JoinResult = 'joined' | 'taken';

const kindName = 'User';

/**
 * Makes the person a user of an account. Activates the user with the person's proved address if there is one, which
 * ends an invitation; otherwise creates a user, who waits for approval if the account requires it. `admit` may throw to
 * refuse, and gets the state of the account.
 */
export async function joinAccount(
  engine: Engine,
  account: string,
  person: UnknownPerson,
  admit: (state: Snapshot) => void,
): Promise<JoinResult> {
  const state = await engine.snapshots.fresh(account);
  admit(state);
  const known = await knownUser(engine, state, person);
  if (known === 'taken') return 'taken';
  const id = known?.id ?? engine.newId();
  return commitJoin(engine, person, id, {
    accounts: [account],
    identities: [identityOf(engine, account, id, person)],
    propose: (stateOf) => {
      const now = stateOf(account);
      const user = now.get(id);
      const edit = user === undefined ? { after: newUser(engine, now, id, person) } : activate(engine, user, person);
      return { [account]: planEdits(engine, now, [edit]) };
    },
  });
}

/** Creates an account with the person as its owner. `domain` is the domain of the organisation; empty when unknown. */
export async function createAccountFor(engine: Engine, person: UnknownPerson, domain: string): Promise<JoinResult> {
  const [account, id] = [engine.newId(), engine.newId()];
  const founded = emptySnapshot(engine.registry, account);
  // An unproved address neither matches an existing user nor reserves the address.
  const email = person.emailVerified ? person.email : '';
  const owner = { id, name: person.name, email, idp: person.issuer, domain };
  return commitJoin(engine, person, id, {
    accounts: [],
    newAccount: founded,
    entries: domain === '' ? [] : [{ account, kind: domainEntryKind, value: domain, subject: account }],
    identities: [identityOf(engine, account, id, person)],
    propose: () => {
      const now = engine.now();
      const objects = engine.firstObjects(account, owner).map((object) => storedObject(engine, object, now));
      const edits = objects.map((after): Edit => ({ after }));
      return { [account]: planEdits(engine, founded, edits) };
    },
  });
}

async function commitJoin(
  engine: Engine,
  { name, email }: UnknownPerson,
  id: string,
  mutation: Omit<SharedMutation, 'actor'>,
): Promise<JoinResult> {
  const actor = { type: 'user', id, name, ...(email === '' ? {} : { email }) } as const;
  const committed = await engine.committer.mutateTogether({ ...mutation, actor });
  if (committed.ok) return 'joined';
  // A concurrent sign-in may have taken the address.
  if (committed.why === 'taken' || committed.problems.every(({ code }) => code === 'value_taken')) return 'taken';
  throw errorForProblems(committed.problems);
}

function identityOf(engine: Engine, account: string, user: string, { issuer, subject }: UnknownPerson) {
  return { account, user, issuer, subject, at: engine.now() };
}

/**
 * Returns the user of the account with the person's address. Throws `NotAllowed` when the address is not proved, or
 * when another identity of the provider belongs to that user.
 */
async function knownUser(
  engine: Engine,
  state: Snapshot,
  person: UnknownPerson,
): Promise<StoredObject | 'taken' | undefined> {
  const { email, emailVerified, issuer, subject } = person;
  const user = email === '' ? undefined : state.findByUnique(kindName, 'email', email.toLowerCase());
  if (user === undefined) return undefined;
  const others = await subjectsOf(engine.database, state.account, { issuer, user: user.id });
  if (others.includes(subject)) return 'taken';
  if (!emailVerified)
    throw new NotAllowed(
      `the user ${email} exists already, and the identity provider does not confirm that the address is yours; ask an admin`,
    );
  if (others.length > 0)
    throw new NotAllowed(`another person of the identity provider already signs in as ${email}; ask an admin`);
  return user;
}

function activate(engine: Engine, user: StoredObject, { issuer }: UnknownPerson): Edit {
  return editDerivedFacts(engine, user, { status: 'active', idp_id: issuer });
}

function newUser(engine: Engine, state: Snapshot, id: string, { name, email, issuer }: UnknownPerson): StoredObject {
  const waits = requiresApproval(state);
  const spec = { name, email, role: 'user', auto_groups: [], is_service_user: false, is_blocked: waits };
  const derived = { issued: 'api', status: 'active', idp_id: issuer, ...(waits ? { pending_approval: true } : {}) };
  const object = { id, kind: kindName, spec: canonicalSpec(engine.registry.get(kindName), spec).spec, derived };
  return storedObject(engine, object, engine.now());
}

/** Whether people who join without an invitation wait for approval by an administrator. */
function requiresApproval(state: Snapshot): boolean {
  return extraSettingsOf(state).user_approval_required === true;
}
