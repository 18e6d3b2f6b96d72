import { expect, it } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import { catchUp, loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import type { Described } from '../api/described.ts';
import { createScene, inTheirOrder, isCreation } from '../api/example-scene.ts';
import { apiOn } from '../api/setup.ts';
import { testDatabase } from '../setup/database.ts';

/** Returns the responses for all objects of an account as text by kind and id, so that the order of members counts. */
function answersOf(state: Snapshot): ReadonlyMap<string, string> {
  const objects = [...state.objects()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return new Map(
    objects.map((object) => [
      `${object.kind} ${object.id}`,
      JSON.stringify(lowerToResponse(state.registry, object, state)),
    ]),
  );
}

it('servers return identical bytes for every kind, whether they wrote it, caught up with it or loaded it', async () => {
  const made = await testDatabase('postgres');
  const txt = new Map<string, readonly string[]>();
  const resolveTxt = async (name: string) => txt.get(name) ?? [];
  await using own = await apiOn(made.database, () => made[Symbol.asyncDispose](), { edition: 'hosted', resolveTxt });
  const other = await openDatabase(made.url === undefined ? {} : { url: made.url });
  const { engine, account } = own;
  const early = await loadSnapshot(other, engine.registry, account);
  if (early === undefined) throw new Error('there is no account');
  const scene = await createScene(own, 'hosted', txt);
  const faults: string[] = [];
  const attempt = async (of: Described) => {
    faults.push(...(await scene.attempt(of)));
  };
  // Each object is created, then replaced under its id.
  const creations = scene.operations.filter((of) => of.path.startsWith('/api/') && isCreation(of, scene.operations));
  await inTheirOrder(scene, creations, attempt);
  const isObjects = ({ method, path }: Described) => method === 'put' && !/password|invite/.test(path);
  await inTheirOrder(scene, scene.operations.filter(isObjects), attempt);
  expect(faults).toEqual([]);
  // Maps, because not every example has one.
  const headers = Object.fromEntries(['X-Zz', 'A', 'X-Longer-Name', 'B-Short', 'C'].map((name) => [name, 'value']));
  const [peer = ''] = await own.peers('served');
  const target = { target_id: peer, target_type: 'peer', protocol: 'http', port: 80, enabled: true };
  const service: JsonObject = {
    ...{ name: 'With headers', domain: 'headers.proxy.example.com', enabled: true },
    targets: [{ ...target, options: { custom_headers: headers } }],
  };
  const served = await own.call('POST', '/api/reverse-proxies/services', service);
  const channel = {
    type: 'webhook',
    target: { url: 'https://hooks.example.com', headers },
    event_types: ['user.join'],
  };
  const reported = await own.call('POST', '/api/integrations/notifications/channels', { ...channel, enabled: true });
  const groups = [await own.group('zz'), await own.group('aa'), await own.group('mm')];
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'ssh' };
  const authorized_groups = Object.fromEntries([...groups].reverse().map((id) => [id, ['root', 'ana']]));
  const rules = [{ ...rule, sources: groups, destinations: groups, authorized_groups }];
  const policy = await own.call('POST', '/api/policies', { name: 'Maps', enabled: true, rules });
  expect([served.status, reported.status, policy.status]).toEqual([200, 200, 200]);

  const wrote = answersOf(await engine.snapshots.fresh(account));
  const caughtUp = answersOf(await catchUp(other, early));
  const loaded = await loadSnapshot(other, engine.registry, account);
  await other.close();
  const read = answersOf(loaded ?? early);
  for (const [name, answer] of wrote) {
    expect(caughtUp.get(name), `${name}, caught up`).toBe(answer);
    expect(read.get(name), `${name}, loaded`).toBe(answer);
  }
  const kinds = new Set([...wrote.keys()].map((name) => name.split(' ')[0]));
  const missing = productRegistry().kinds.filter(({ name, path }) => path !== undefined && !kinds.has(name));
  expect(missing.map(({ name }) => name)).toEqual([]);
});
