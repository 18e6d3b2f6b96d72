import type { JsonObject } from '../../../lib/json.ts';
import { ownedTenant } from '../../../model/declare/owner-groups.ts';
import { type Provided, providedIndex, providedValue } from '../../../model/declare/provided.ts';
import { maxLengths } from '../../../model/schema/field.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { canonicalEmail } from '../../../objects/email-address.ts';
import type { FindingCode, ProvidedUser } from './change.ts';
import type { PlanningState } from './work.ts';

/**
 * Applies the provider's data of a person. A user who exists already is linked to the person instead of being created
 * twice.
 */
export function importUser(work: PlanningState, all: ProvidedUser): void {
  const { users, integration } = work;
  const present = users.find(all.key);
  const user = present ?? findUserToLink(work, all);
  if (user === 'taken') return;
  const given = withoutProtectedAddress(work, all, user);
  const fault = faultOf(work, given, user);
  if (fault !== undefined) {
    work.addFinding(fault.code, given.key, fault.message);
    return;
  }
  const said = buildProvided(work, given, user);
  const id = user?.id ?? (work.keys === 'objects' ? given.key : work.newId());
  const spec = { ...(user?.spec ?? newSpec), ...emailAndNameOf(work, given, user), is_blocked: isBlocked(user, said) };
  if (isOwner(user) && spec.is_blocked && user?.spec.is_blocked !== true) {
    work.addFinding('owner_kept', given.key, ownerKeptMessage(user));
    return;
  }
  const connector = user === undefined && integration.connector !== undefined ? { idp_id: integration.connector } : {};
  for (const [what, value] of [
    ['email', spec.email],
    ['login', said.login],
  ] as const)
    if (value !== undefined && value !== '') work.claimed.set(`${what} ${String(value).toLowerCase()}`, id);
  users.put(id, { spec, provided: said, derived: { issued: 'integration', ...connector } });
  work.ids.set(given.key, id);
}

const newSpec = { email: '', name: '', role: 'user', auto_groups: [], is_service_user: false, is_blocked: false };

/** Blocks a user whom the provider removed, at once, and removes the user from the groups that the provider brought. */
export function dropUser(work: PlanningState, user: Stored<'User'>): void {
  const { provided } = user.derived;
  if (provided === undefined || provided.removed_since !== undefined) return;
  if (isOwner(user)) {
    work.addFinding('owner_kept', provided.external_id ?? user.id, ownerKeptMessage(user));
    return;
  }
  const { now } = work;
  const kept = (user.spec.auto_groups ?? []).filter((id) => !work.isOfProvider(id));
  const inactive = provided.inactive_since ?? now;
  work.users.put(user.id, {
    spec: { ...user.spec, is_blocked: true, auto_groups: kept },
    provided: { ...provided, inactive_since: inactive, removed_since: now },
  });
}

/**
 * Blocks a user whom the provider deleted for good, like any removed user, and marks the user so that it is not kept
 * for 30 days.
 */
export function markUserDeleted(work: PlanningState, user: Stored<'User'>): void {
  dropUser(work, user);
  const dropped = work.users.get(user.id);
  const provided = dropped?.derived.provided;
  // `dropUser` leaves owners unchanged.
  if (dropped === undefined || provided?.removed_since === undefined || provided.deleted_since !== undefined) return;
  work.users.put(user.id, { spec: dropped.spec, provided: { ...provided, deleted_since: work.now } });
}

function isOwner(user: Stored<'User'> | undefined): boolean {
  return user?.spec.role === 'owner';
}

function ownerKeptMessage({ name }: { readonly name: string } = { name: '' }): string {
  return `${name} is an owner of the account and stays: transfer the ownership first, then the identity provider can keep the user out`;
}

/**
 * Returns the name of a tenant that the user owns through a group that the provider does not fill. Such a right is not
 * the provider's to give, so the provider may not decide who the user is either.
 */
function tenantOwnedOtherwise({ state, isOfProvider }: PlanningState, user: Stored<'User'>): string | undefined {
  const others = (user.spec.auto_groups ?? []).filter((group) => !isOfProvider(group));
  return ownedTenant(state, others);
}

/**
 * Returns the provider's data without the e-mail address where the provider may not replace the address: for an owner
 * of the account or of a tenant, and for a user with a password or a sign-in, because the address decides who can sign
 * in as that user.
 */
function withoutProtectedAddress(
  work: PlanningState,
  given: ProvidedUser,
  user: Stored<'User'> | undefined,
): ProvidedUser {
  const said = canonicalEmail(work.state.registry, given.email ?? '').value?.toLowerCase() ?? '';
  const kept = user?.spec.email ?? '';
  if (user === undefined || said === '' || said === kept.toLowerCase()) return given;
  const tenant = tenantOwnedOtherwise(work, user);
  const isKept = isOwner(user) || tenant !== undefined || work.usersWithSignIn.has(user.id);
  if (!isKept) return given;
  const { email: _, ...rest } = given;
  const has = `${user.name} keeps ${kept === '' ? 'no e-mail address' : `the e-mail address ${kept}`}`;
  if (isOwner(user))
    work.addFinding(
      'owner_kept',
      given.key,
      `${user.name} is an owner of the account and stays: ${has}, because an identity provider cannot change the address of an owner; correct it at the provider`,
    );
  else {
    const why = tenant === undefined ? 'already has a password or an identity' : `is an owner of the tenant ${tenant}`;
    work.addFinding('email_kept', given.key, `${has}: the user ${why}, so ${said} is not imported`);
  }
  return rest;
}

/**
 * Returns the existing user to link to a person whom the provider names for the first time: found by a sign-in, an id,
 * a login or an e-mail address. Returns `taken` when that user belongs to another person or integration.
 */
function findUserToLink(work: PlanningState, given: ProvidedUser): Stored<'User'> | 'taken' | undefined {
  const { users, state, integration, linked } = work;
  const signedIn = users.get(linked.get(given.externalId ?? given.key) ?? '');
  const named = given.login === undefined ? undefined : holderOfLogin(work, given.login);
  const known = typeof given.externalId === 'string' ? holderOfId(work, given.externalId) : undefined;
  const email = canonicalEmail(work.state.registry, given.email ?? '').value ?? '';
  const mailed = email === '' ? undefined : holderOfEmail(work, email);
  const found = [signedIn, known, named, mailed].find((user) => user !== undefined);
  if (found === undefined || found.spec.is_service_user === true) return undefined;
  const { provided } = found.derived;
  if (provided === undefined || state.get(provided.by) === undefined) return found;
  if (provided.by === integration.id && provided.removed_since !== undefined) return found;
  const of = provided.by === integration.id ? 'another user of this identity provider' : 'another integration';
  const code = found === named ? 'login_taken' : found === known ? 'external_id_taken' : 'email_taken';
  work.addFinding(code, given.key, `${given.login ?? email} is already a user, linked to ${of}`);
  return 'taken';
}

function holderOfEmail({ users, state, claimed }: PlanningState, email: string): Stored<'User'> | undefined {
  const value = email.toLowerCase();
  const id = claimed.get(`email ${value}`) ?? state.findByUnique('User', 'email', value)?.id;
  const user = id === undefined ? undefined : users.get(id);
  return user?.spec.email?.toLowerCase() === value ? user : undefined;
}

function holderOfLogin(
  { users, state, integration, claimed }: PlanningState,
  login: string,
): Stored<'User'> | undefined {
  const one = claimed.get(`login ${login.toLowerCase()}`);
  if (one !== undefined) return users.get(one);
  const [found] = state.lookUp('User', providedIndex, providedValue(integration.id, 'login', login));
  return found && users.get(found.id);
}

function holderOfId({ users, state, integration }: PlanningState, id: string): Stored<'User'> | undefined {
  const found = state.lookUp('User', providedIndex, providedValue(integration.id, 'id', id));
  return found.flatMap((user) => users.get(user.id) ?? [])[0];
}

interface Fault {
  readonly code: FindingCode;
  readonly message: string;
}

/** Returns why the provider's data of a person cannot be applied, `undefined` when it can. */
function faultOf(work: PlanningState, given: ProvidedUser, user: Stored<'User'> | undefined): Fault | undefined {
  const isOther = (other: { readonly id: string } | undefined) => other !== undefined && other.id !== user?.id;
  const email = canonicalEmail(work.state.registry, given.email ?? '');
  if (email.fault !== undefined) {
    const who = given.login ?? given.name ?? given.key;
    return { code: 'email_invalid', message: `the address of ${who} cannot be imported: ${email.fault}` };
  }
  if (email.value !== '' && isOther(holderOfEmail(work, email.value)))
    return { code: 'email_taken', message: `another user of the account has the e-mail address ${email.value}` };
  if (given.login !== undefined && isOther(holderOfLogin(work, given.login)))
    return { code: 'login_taken', message: `another user of this identity provider is called ${given.login}` };
  if (work.keys === 'external' || typeof given.externalId !== 'string') return undefined;
  const same = holderOfId(work, given.externalId);
  return isOther(same) && same?.derived.provided?.removed_since === undefined
    ? { code: 'external_id_taken', message: `another user of this identity provider has the id ${given.externalId}` }
    : undefined;
}

/**
 * Returns the provider's data to store with the user. A removed user whom the provider sends again is no longer
 * removed.
 */
function buildProvided(work: PlanningState, given: ProvidedUser, user: Stored<'User'> | undefined): Provided {
  const own = user?.derived.provided?.by === work.integration.id ? user.derived.provided : undefined;
  const { removed_since: wasRemoved, deleted_since: _, inactive_since: was, external_id: known, ...rest } = own ?? {};
  const isActive = given.active ?? (wasRemoved !== undefined || was === undefined);
  const id = work.keys === 'external' ? given.key : given.externalId === undefined ? known : given.externalId;
  return {
    ...rest,
    by: work.integration.id,
    ...(typeof id === 'string' ? { external_id: id } : {}),
    ...(given.login === undefined ? {} : { login: given.login }),
    ...(isActive ? {} : { inactive_since: was ?? work.now }),
    ...(given.facts === undefined ? {} : { facts: given.facts }),
  };
}

/**
 * Returns whether a user is blocked. A user who was blocked because of the provider is unblocked by the provider; a
 * user whom an administrator blocked stays blocked.
 */
function isBlocked(user: Stored<'User'> | undefined, said: Provided): boolean {
  return isKeptOut(said) || (!isKeptOut(user?.derived.provided) && user?.spec.is_blocked === true);
}

function isKeptOut(provided: Provided | undefined): boolean {
  return provided?.inactive_since !== undefined || provided?.unassigned_since !== undefined;
}

/**
 * Blocks a user while none of the user's groups matches the prefixes of `userGroupPrefixes`, and unblocks the user
 * otherwise.
 */
export function assignUser(work: PlanningState, user: Stored<'User'>, isAssigned: boolean): void {
  const { provided } = user.derived;
  if (provided === undefined || isAssigned === (provided.unassigned_since === undefined)) return;
  if (isOwner(user) && !isAssigned) {
    work.addFinding('owner_kept', provided.external_id ?? user.id, ownerKeptMessage(user));
    return;
  }
  const { unassigned_since: _, ...rest } = provided;
  const next = isAssigned ? rest : { ...rest, unassigned_since: work.now };
  work.users.put(user.id, { spec: { ...user.spec, is_blocked: isBlocked(user, next) }, provided: next });
}

function emailAndNameOf(
  work: PlanningState,
  { name, email }: ProvidedUser,
  user: Stored<'User'> | undefined,
): JsonObject {
  const address = email === undefined ? undefined : canonicalEmail(work.state.registry, email).value;
  const shown = name === undefined || name.trim() === '' ? undefined : name.trim().slice(0, maxLengths.name);
  const fallback = user === undefined || user.name === '' ? address : undefined;
  return {
    ...(address === undefined || address === '' ? {} : { email: address }),
    ...((shown ?? fallback) ? { name: shown ?? fallback ?? '' } : {}),
  };
}
