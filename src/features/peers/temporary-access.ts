import { storedObject } from '../../commit/bootstrap.ts';
import { planEdits } from '../../commit/edits.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import { Conflict, InvalidInput, NotFound } from '../../model/errors.ts';
import { canonicalSpec } from '../../model/schema/normalize.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { checkRequestTests } from '../../objects/access-tests.ts';
import { errorForProblems } from '../../objects/objects.ts';
import { parseTemporaryRule } from '../../operations/temporary-access.ts';
import { requireRight } from '../../plan/checks/authorize.ts';
import type { Edit } from '../../plan/finish.ts';
import type { PlanOutcome } from '../../plan/plan.ts';

/** A temporary access to a peer. */
export interface TemporaryAccess {
  readonly name: string;
  readonly id: string;
  readonly rules: readonly string[];
}

/** Request for a temporary access. Its rules are valid, and there are no duplicates. */
interface TemporaryAccessRequest {
  readonly name: string;
  /** Base64, as WireGuard writes keys. */
  readonly wg_pub_key: string;
  readonly rules: readonly string[];
}

/** Creates a temporary peer that reaches one other peer by these rules only. It exists as long as it is connected. */
export async function grantTemporaryAccess(
  engine: Engine,
  call: Call,
  target: string,
  body: TemporaryAccessRequest,
): Promise<TemporaryAccess> {
  const id = engine.newId();
  const committed = await engine.committer.mutate({
    ...call,
    propose: (state) => {
      for (const module of ['peers', 'policies']) requireRight(state, call.actor, module, 'create');
      const peer = state.get(target);
      if (peer === undefined || peer.kind !== engine.registry.get('Peer').name)
        throw new NotFound(`peer ${target} not found`);
      return checkRequestTests(engine, state, planAccess(engine, call, state, { id, target: peer, body }));
    },
  });
  if (!committed.ok) throw errorForProblems(committed.problems);
  return { name: body.name, id, rules: body.rules };
}

interface TemporaryAccessPlan {
  readonly id: string;
  readonly target: StoredObject;
  readonly body: TemporaryAccessRequest;
}

function planAccess(
  engine: Engine,
  call: Call,
  state: Snapshot,
  { id, target, body }: TemporaryAccessPlan,
): PlanOutcome {
  const now = engine.now();
  const { name, wg_pub_key: tunnelKey, rules } = body;
  const kind = engine.registry.get('Peer');
  if ([kind.name, 'ProxyPeer'].some((name) => state.findByUnique(name, 'wg_pub_key', tunnelKey) !== undefined))
    throw new Conflict('taken', 'a peer with this key already exists; make a new key pair');
  const spec = canonicalSpec(kind, {
    ...{ name, hostname: name, wg_pub_key: tunnelKey, ephemeral: true },
    // An actor from the managing account of a tenant is not a user of the tenant.
    ...(call.home === undefined ? { user_id: call.actor.id } : {}),
    ...{ ssh_enabled: false, login_expiration_enabled: false, inactivity_expiration_enabled: false },
  }).spec;
  const derived = { temporary: true, enrolled_by: 'temporary', made_by: call.actor.id, os: 'js wasm' };
  const peer = storedObject(engine, { id, kind: kind.name, spec, derived }, now);
  const policies = rules.map((rule): Edit => ({ after: policyOf(engine, { id, target, body }, rule) }));
  return planEdits(engine, state, [{ after: peer, given: { enrolment: { groups: [], at: now } } }, ...policies], now);
}

function policyOf(engine: Engine, { id, target, body }: TemporaryAccessPlan, text: string): StoredObject {
  const traffic = parseTemporaryRule(text);
  if (typeof traffic === 'string') throw new InvalidInput(traffic);
  const kind = engine.registry.get('Policy');
  const rule = {
    ...{ name: text, enabled: true, action: 'accept', bidirectional: false },
    ...traffic,
    sourceResource: { id, type: 'peer' },
    destinationResource: { id: target.id, type: 'peer' },
  };
  const spec = canonicalSpec(kind, {
    name: `Temporary access of ${body.name} to ${target.name} (${text})`,
    description: `Created with the temporary peer ${body.name}, and deleted with it.`,
    enabled: true,
    rules: [rule],
  }).spec;
  const derived = { derived_from: id, temporary: true };
  return storedObject(engine, { id: engine.newId(), kind: kind.name, spec, derived }, engine.now());
}
