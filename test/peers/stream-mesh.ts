import { expect } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { createHub, type Hub, type HubOptions } from '../../src/features/peers/streams/hub.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createObject, deleteObject, replaceObject } from '../../src/objects/objects.ts';
import { newOffice, type Office } from '../commit/office.ts';
import { addPeers } from '../setup/peers.ts';
import { connect, expectedMap } from './follower.ts';

export const lenient = { strict: false };

/** No account is read because of the time. */
export const never = { tickMs: 3_600_000, observationDelayMs: 3_600_000 };

export interface Mesh extends Office {
  readonly hub: Hub;
  readonly heard: string[];
  write(kind: string, spec: JsonObject): Promise<string>;
  rewrite(kind: string, id: string, spec: JsonObject): Promise<void>;
  remove(kind: string, id: string): Promise<void>;
}

/** Creates an office with a hub, in which no peer reaches another peer. */
export async function newMesh(options: Partial<HubOptions> = {}): Promise<Mesh> {
  const office = await newOffice('postgres');
  const { engine, call } = office;
  const heard: string[] = [];
  const listener = {
    connected: (_: string, peer: string) => void heard.push(`${peer} connected`),
    gone: (_: string, peer: string) => void heard.push(`${peer} gone`),
  };
  const failed = (error: unknown) => void heard.push(String(error));
  const hub = createHub({ engine, listener, now: Date.now, failed, ...options });
  const kindOf = (name: string) => engine.registry.get(name);
  const first = (await engine.snapshots.fresh(call.account)).ofKind('Policy')[0];
  if (first !== undefined) await deleteObject(engine, call, kindOf('Policy'), first.id, lenient);
  return {
    ...office,
    hub,
    heard,
    async write(kind, spec) {
      return (await createObject(engine, call, kindOf(kind), spec, lenient)).object.id;
    },
    async rewrite(kind, id, spec) {
      await replaceObject(engine, call, kindOf(kind), id, spec, lenient);
    },
    async remove(kind, id) {
      await deleteObject(engine, call, kindOf(kind), id, lenient);
    },
    async [Symbol.asyncDispose]() {
      hub.close();
      await office[Symbol.asyncDispose]();
    },
  };
}

export function policy(sources: readonly string[], destinations: readonly string[], port = '443'): JsonObject {
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp', ports: [port] };
  return { name: 'P', enabled: true, rules: [{ ...rule, sources, destinations }] };
}

/** Creates a mesh in which `first` reaches `second`, and `third` reaches no peer. */
export async function connectedMesh(options: Partial<HubOptions> = {}) {
  const mesh = await newMesh(options);
  const ids = await addPeers(mesh.engine, mesh.account, ['first', 'second', 'third']);
  const [one, two] = await Promise.all([
    mesh.write('Group', { name: 'one', peers: [ids[0] ?? ''] }),
    mesh.write('Group', { name: 'two', peers: [ids[1] ?? ''] }),
  ]);
  const rule = await mesh.write('Policy', policy([one], [two]));
  const joined = ids.map((peer) => connect(mesh.hub, { account: mesh.account, peer }));
  const followers = joined.map(([follower]) => follower);
  await expect.poll(() => followers.map(({ types }) => types)).toEqual([['map'], ['map'], ['map']]);
  const expectMaps = async (among = followers) => {
    for (const [at, peer] of ids.entries())
      if (among[at] !== undefined) expect(among[at]?.map).toEqual(await expectedMap(mesh.engine, mesh.account, peer));
  };
  return { mesh, ids, one, two, rule, followers, leave: joined.map(([, leave]) => leave), expectMaps };
}

/** Writes a check that only peers of version 2.0.0 or later pass. Returns its id. */
function writeVersionCheck(mesh: Mesh): Promise<string> {
  const checks = { client_version_check: { min_version: '2.0.0' } };
  return mesh.write('PostureCheck', { name: 'new', description: '', checks });
}

/** Writes a policy by which a peer reaches another one if its version is 2.0.0 or later. */
export async function writeCheckedPolicy(mesh: Mesh, peer: string, other: string): Promise<void> {
  const one = await mesh.write('Group', { name: 'one', peers: [peer] });
  const two = await mesh.write('Group', { name: 'two', peers: [other] });
  await mesh.write('Policy', { ...policy([one], [two]), source_posture_checks: [await writeVersionCheck(mesh)] });
}

/** Lets a policy apply only to peers of version 2.0.0 or later. */
export async function requireVersion(mesh: Mesh, rule: string, [one, two]: readonly [string, string]): Promise<void> {
  await mesh.rewrite('Policy', rule, {
    ...policy([one], [two]),
    source_posture_checks: [await writeVersionCheck(mesh)],
  });
}

/** Creates a hub, and counts how often it reads an account with all observations. */
export function countedHub(engine: Engine, options: Partial<HubOptions>) {
  let reads = 0;
  const snapshots = { ...engine.snapshots, fresh: countCalls(engine.snapshots.fresh, () => reads++) };
  const listener = { connected: () => undefined, gone: () => undefined };
  const hub = createHub({
    engine: { ...engine, snapshots },
    listener,
    now: Date.now,
    failed: () => undefined,
    ...options,
  });
  return { hub, reads: () => reads };
}

export function countCalls<A extends unknown[], R>(work: (...given: A) => R, count: () => void): (...given: A) => R {
  return (...given) => {
    count();
    return work(...given);
  };
}
