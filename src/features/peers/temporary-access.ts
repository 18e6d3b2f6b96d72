import { storedObject } from '../../commit/bootstrap.ts';
import { planEdits } from '../../commit/edits.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Fault } from '../../model/declare/kind.ts';
import { Conflict, InvalidInput, NotFound } from '../../model/errors.ts';
import { canonicalSpec } from '../../model/schema/canonical.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { judgeRequest } from '../../objects/access-tests.ts';
import { refusalOf } from '../../objects/objects.ts';
import type { Edit } from '../../plan/finish.ts';
import { requireRight } from '../../plan/guards/authorize.ts';
import type { Outcome } from '../../plan/plan.ts';

/** What lets somebody reach a peer for a while. */
export interface TemporaryAccess {
  readonly name: string;
  readonly id: string;
  readonly rules: readonly string[];
}

/** A body for it, checked but for its rules. */
export interface TemporaryAccessBody {
  readonly name: string;
  /** Base64, as tunnels write it. */
  readonly tunnelKey: string;
  readonly rules: readonly string[];
}

/** The traffic that one rule is about. */
type Traffic = Readonly<Record<'protocol', string>> & JsonObject;

/**
 * Makes a peer that reaches one other peer by these rules, and nobody else, as long as it is connected. Throws what is wrong
 * with the rules before anything is made.
 */
export async function grantTemporaryAccess(
  engine: Engine,
  call: Call,
  target: string,
  body: TemporaryAccessBody,
): Promise<TemporaryAccess> {
  const id = engine.newId();
  const committed = await engine.committer.mutate({
    ...call,
    propose: (state) => {
      for (const module of ['peers', 'policies']) requireRight(state, call.actor, module, 'create');
      const peer = state.get(target);
      if (peer === undefined || peer.kind !== engine.registry.get('Peer').name)
        throw new NotFound(`peer ${target} not found`);
      return judgeRequest(engine, state, planAccess(engine, call, state, { id, target: peer, body }));
    },
  });
  if (!committed.ok) throw refusalOf(committed.problems);
  return { name: body.name, id, rules: body.rules };
}

interface Access {
  readonly id: string;
  readonly target: StoredObject;
  readonly body: TemporaryAccessBody;
}

function planAccess(engine: Engine, call: Call, state: Snapshot, { id, target, body }: Access): Outcome {
  const now = engine.now();
  const { name, tunnelKey, rules } = body;
  const read = rules.map(readRule);
  const faults = read.flatMap((rule, at) => (typeof rule === 'string' ? [faultAt(at, rule)] : []));
  if (faults.length > 0) throw new InvalidInput(faults[0]?.message ?? '', { problems: faults });
  const kind = engine.registry.get('Peer');
  if ([kind.name, 'ProxyPeer'].some((name) => state.holderOf(name, 'wg_pub_key', tunnelKey) !== undefined))
    throw new Conflict('taken', 'a peer with this key already exists; make a new key pair');
  const spec = canonicalSpec(kind, {
    ...{ name, hostname: name, wg_pub_key: tunnelKey, ephemeral: true },
    // Who acts in the account of a tenant is no user there.
    ...(call.home === undefined ? { user_id: call.actor.id } : {}),
    ...{ ssh_enabled: false, login_expiration_enabled: false, inactivity_expiration_enabled: false },
  }).spec;
  const derived = { temporary: true, enrolled_by: 'temporary', made_by: call.actor.id, os: 'js wasm' };
  const peer = storedObject(engine, { id, kind: kind.name, spec, derived }, now);
  const policies = read.map((rule, at): Edit => {
    // Faults were thrown above.
    const traffic = rule as Traffic;
    return { after: policyOf(engine, { id, target, body }, traffic, rules[at] ?? '') };
  });
  return planEdits(engine, state, [{ after: peer, given: { enrolment: { groups: [], at: now } } }, ...policies], now);
}

function policyOf(engine: Engine, { id, target, body }: Access, traffic: Traffic, text: string): StoredObject {
  const kind = engine.registry.get('Policy');
  const rule = {
    ...{ name: text, enabled: true, action: 'accept', bidirectional: false },
    ...traffic,
    sourceResource: { id, type: 'peer' },
    destinationResource: { id: target.id, type: 'peer' },
  };
  const spec = canonicalSpec(kind, {
    name: `Temporary access of ${body.name} to ${target.name} (${text})`,
    description: `Made with the temporary peer ${body.name}, and goes with it.`,
    enabled: true,
    rules: [rule],
  }).spec;
  const derived = { derived_from: id, temporary: true };
  return storedObject(engine, { id: engine.newId(), kind: kind.name, spec, derived }, engine.now());
}

function faultAt(at: number, message: string): Fault {
  return { code: 'rule_invalid', path: `/rules/${at}`, message };
}

/** `all`, `icmp`, `tcp/22`, `udp/1000-2000`, `ssh/22`; or what is wrong with the text. */
function readRule(text: string): Traffic | string {
  if (text === 'all' || text === 'icmp') return { protocol: text };
  const [, protocol = '', from = '', to = from] = /^(tcp|udp|ssh)\/(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [start, end] = [Number(from), Number(to)];
  if (protocol === '')
    return `\`${text}\` is no rule; write \`all\`, \`icmp\`, or a protocol with a port or a range, such as \`tcp/22\` or \`udp/1000-2000\``;
  if (start < 1 || end > 65535 || start > end)
    return `\`${text}\` has no ports; they are from 1 to 65535, the lower one first`;
  return start === end ? { protocol, ports: [String(start)] } : { protocol, port_ranges: [{ start, end }] };
}
