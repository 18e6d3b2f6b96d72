import { storedObject } from '../../../commit/bootstrap.ts';
import { editDerivedFacts, planEdits } from '../../../commit/edits.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { findEntry } from '../../../db/accounts/directory.ts';
import { asTextOrEmpty, type JsonObject } from '../../../lib/json.ts';
import { canonicalDomain } from '../../../lib/net/domain.ts';
import { Conflict } from '../../../model/errors.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { contextOf, type WriteOptions, type WriteResult } from '../../../objects/objects.ts';
import { requireRight } from '../../../plan/checks/authorize.ts';
import type { PlanOutcome } from '../../../plan/plan.ts';
import { planCreate, type RequestOutcome } from '../../../plan/requests/requests.ts';
import {
  activeDerivedValues,
  commitAcrossAccounts,
  domainEntryKind,
  planTenantUpdate,
  requireAccount,
  requireStatus,
  requireTenant,
  statusOf,
  tenantKind,
} from './steps.ts';

/**
 * Creates a tenant. When the domain has no account yet, also creates its account, under the same id, which waits for
 * proof of the domain. Otherwise the tenant only names the existing account.
 */
export async function createTenant(
  engine: Engine,
  call: Call,
  body: JsonObject,
  options: WriteOptions & { readonly mostPending: number },
): Promise<WriteResult> {
  const domain = canonicalDomain(asTextOrEmpty(body['domain'])) ?? '';
  const present = await findEntry(engine.database, domainEntryKind, domain);
  if (present === call.account)
    throw new Conflict('taken', `the domain ${domain} already exists: it belongs to this account`);
  const id = present ?? engine.newId();
  const kind = engine.registry.get(tenantKind);
  const derived = { status: present === undefined ? 'pending' : 'existing' };
  let outcome: RequestOutcome | undefined;
  const create = (state: Snapshot): PlanOutcome => {
    if (state.get(id) !== undefined)
      throw new Conflict('taken', `a tenant with the account of ${domain} already exists`);
    // A tenant with the same domain would also have the same key. Without a key, the error names the domain, which the
    // caller wrote.
    const key = state.findByKey(kind.name, domain) === undefined ? { key: domain } : {};
    if (present === undefined) refuseTooMany(state, options.mostPending);
    const seed = { id, ...key, derived };
    outcome = planCreate(contextOf(engine, call, state, options), kind, body, undefined, seed);
    return outcome;
  };
  const founded = present === undefined ? emptySnapshot(engine.registry, id) : undefined;
  const state = await commitAcrossAccounts(engine, call, {
    accounts: [call.account],
    ...(founded === undefined ? {} : { newAccount: founded }),
    propose: (stateOf) => ({
      [call.account]: create(stateOf(call.account)),
      ...(founded === undefined ? {} : { [id]: planTenantAccount(engine, call, founded) }),
    }),
  });
  return { object: requireTenant(state, id), state, ignored: outcome?.ignored ?? [], outputs: {} };
}

/** Limits tenants with an unproved domain: each of them is an account that was created by merely naming a domain. */
function refuseTooMany(state: Snapshot, most: number): void {
  const pending = state.ofKind('MSPTenant').filter((tenant) => statusOf(tenant) === 'pending').length;
  if (pending < most) return;
  const message = `the account has ${pending} tenants with a domain that is not proved, and this server allows ${most}; prove or delete one, or ask the operator to raise HEDDLE_PENDING_TENANTS`;
  throw new Conflict('refused', message);
}

/**
 * Plans the account of a tenant whose domain is not proved yet: it has no domain, and its owner is the machine owner.
 */
function planTenantAccount(engine: Engine, call: Call, state: Snapshot): PlanOutcome {
  const now = engine.now();
  const owner = { id: engine.newId(), name: 'machine owner' };
  const objects = engine.firstObjects(state.account, owner).map((object) => storedObject(engine, object, now));
  const edits = objects.map((object) => ({
    after: object.id === state.account ? withKeeper(object, call.account) : object,
  }));
  return planEdits(engine, state, edits);
}

/**
 * Looks for the challenge in the DNS of the tenant's domain. If it is found, assigns the domain to the tenant's account
 * and activates the tenant. Throws `Conflict` otherwise.
 */
export async function verifyTenant(engine: Engine, call: Call, id: string): Promise<void> {
  const seen = requireTenant(await engine.snapshots.atLeast(call.account, call.revision), id);
  if (statusOf(seen) === 'active') return;
  requireStatus(seen, ['pending'], 'its domain has an account already; invite that account');
  await requireChallenge(engine, seen);
  const domain = seen.spec.domain ?? '';
  await commitAcrossAccounts(
    engine,
    call,
    {
      accounts: [call.account, id],
      entries: [{ account: id, kind: domainEntryKind, value: domain, subject: id }],
      propose: (stateOf) => {
        requireRight(stateOf(call.account), call.actor, 'msp', 'update');
        const tenant = requireTenant(stateOf(call.account), id);
        if (statusOf(tenant) === 'active') return {};
        const proved = { domain, domain_category: 'private' };
        return {
          [call.account]: planTenantUpdate(engine, stateOf(call.account), tenant, activeDerivedValues(engine)),
          [id]: planEdits(engine, stateOf(id), [editDerivedFacts(engine, requireAccount(stateOf(id)), proved)]),
        };
      },
    },
    `the domain ${domain} already exists: it belongs to another account`,
  );
}

async function requireChallenge({ resolveTxt }: Engine, tenant: Stored<'MSPTenant'>): Promise<void> {
  const name = `_heddle-challenge.${tenant.spec.domain ?? ''}`;
  const challenge = tenant.derived.dns_challenge ?? '';
  const texts = await resolveTxt(name).catch(() => undefined);
  if (texts?.includes(challenge) === true) return;
  const found =
    texts === undefined ? 'no name server answers' : `it has ${texts.length} TXT records, none with this value`;
  throw new Conflict(
    'precondition',
    `the TXT record ${name} does not contain \`${challenge}\` (${found}); add it and try again`,
  );
}

/** Stores the price of the tenant's subscription. */
export async function subscribeTenant(engine: Engine, call: Call, id: string, price: string): Promise<void> {
  await commitAcrossAccounts(engine, call, {
    accounts: [call.account],
    propose: (stateOf) => {
      const state = stateOf(call.account);
      requireRight(state, call.actor, 'billing', 'update');
      return { [call.account]: planTenantUpdate(engine, state, requireTenant(state, id), { price_id: price }) };
    },
  });
}

function withKeeper(account: StoredObject, msp: string): StoredObject {
  return { ...account, derived: { ...account.derived, msp } };
}
