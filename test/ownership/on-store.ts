import fc from 'fast-check';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { createPastStates } from '../../src/commit/past-states.ts';
import { createSnapshots } from '../../src/commit/snapshots.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { openDatabase } from '../../src/db/database.ts';
import { putClaims } from '../../src/db/sources/claims.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import { canonicalJson, type Json } from '../../src/lib/json.ts';
import { HeddleError } from '../../src/model/errors.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { createObject, deleteObject, replaceObject } from '../../src/objects/objects.ts';
import { endOverrides } from '../../src/objects/overrides.ts';
import { finishPlan } from '../../src/plan/finish.ts';
import { planDetach } from '../../src/plan/ownership/detach.ts';
import { driftOf } from '../../src/plan/ownership/drift.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { planRollback } from '../../src/plan/rollback/rollback.ts';
import { applyRequest } from '../commit/office.ts';
import { testDatabase } from '../setup/database.ts';
import { bodyOf, documentsOf, finished, joined, newAccount, thingIn, timeAt, worldOf } from './acting.ts';
import { worldRegistry } from './kinds.ts';
import { type Act, type Sequence, sequencesIn, sources } from './sequence.ts';

const actor = { type: 'user', id: 'u1', name: 'Ana', granted: 'owner' } as const;
const thingKind = worldRegistry.get('Thing');

/** Number of accounts played concurrently: enough to keep the database busy. */
const atOnce = 6;

/**
 * Plays sequences on Postgres through two servers, each in a separate account. Consecutive acts are started
 * concurrently, in either order. Throws with the sequence when the account differs from the state that its history
 * gives.
 */
export async function playOnStore(count: number): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const all = fc.sample(sequencesIn(['guard', 'guard', 'correct', 'observe', 'seed']), { numRuns: count, seed });
  await using made = await testDatabase('postgres');
  const other = await openDatabase(made.url === undefined ? {} : { url: made.url });
  const servers = [made.database, other].map((database) => createEngine({ database, kinds: worldRegistry }));
  try {
    const queue = all.map((sequence, at) => ({ sequence, account: `acc-${at}` }));
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { sequence, account } = next;
        await playIn(servers, account, sequence).catch((cause: unknown) => {
          throw new Error(`sequence ${account} of the seed ${seed}: ${JSON.stringify(sequence.acts, plainly)}`, {
            cause,
          });
        });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    for (const server of servers) await server.committer.settle();
    await other.close();
  }
}

function plainly(_: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}

interface Scene {
  readonly servers: readonly Engine[];
  readonly account: string;
  readonly sequence: Sequence;
  /** Minutes since the start. */
  now: number;
  readonly latest: Map<string, Extract<Act, { readonly does: 'apply' }>>;
}

async function playIn(servers: readonly Engine[], account: string, sequence: Sequence): Promise<void> {
  const scene: Scene = { servers, account, sequence, now: 0, latest: new Map() };
  await found(scene);
  for (const wave of wavesOf(sequence.acts)) {
    for (const act of wave) if (act.does === 'wait') scene.now += act.minutes;
    const ends = wave.map((act, at) => perform(scene, serverOf(scene, at), act));
    for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason;
  }
  await endOverrides(serverOf(scene, 0), account);
  await settle(scene);
  await check(scene);
}

/**
 * Splits acts into groups of up to three. Only the type of an act decides where a group ends, so that equal sequences
 * have equal groups.
 */
function wavesOf(acts: readonly Act[]): readonly (readonly Act[])[] {
  const waves: Act[][] = [];
  for (const act of acts) {
    const last = waves.at(-1);
    if (last === undefined || last.length === 3 || act.does === 'wait' || act.does === 'rollback') waves.push([act]);
    else last.push(act);
  }
  return waves;
}

/** Returns one of the servers, with its clock set to the time of the scene. */
function serverOf({ servers, now }: Scene, at: number): Engine {
  const server = servers[at % servers.length];
  if (server === undefined) throw new Error('there is no server');
  return { ...server, now: () => timeAt(now), databaseTime: async () => timeAt(now) };
}

async function found(scene: Scene): Promise<void> {
  const { account, sequence } = scene;
  const server = serverOf(scene, 0);
  const persons = [...newAccount(new Map()).ofKind('Person')];
  const founded = emptySnapshot(worldRegistry, account);
  await server.committer.mutateTogether({
    ...{ actor, accounts: [], newAccount: founded },
    propose: () => ({ [account]: put(founded, persons) }),
  });
  for (const [id, conflictMode] of sequence.modes)
    if (conflictMode !== 'guard')
      await recordSource(server, { account, actor }, { id, type: 'push', spec: { conflictMode } });
}

function put(snapshot: Snapshot, objects: Iterable<Parameters<Snapshot['with']>[0]['put'][number]>): PlanOutcome {
  const edits = [...objects].map((after) => ({ after }));
  return finishPlan({ snapshot, edits, newId: () => 'never', locate: (_, { code, message }) => ({ code, message }) });
}

/** Performs an act. A refusal counts as a normal result. */
async function perform(scene: Scene, server: Engine, act: Act): Promise<void> {
  try {
    await performOn(scene, server, act);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
  }
}

async function performOn(scene: Scene, server: Engine, act: Act): Promise<void> {
  const { account } = scene;
  const call = { account, actor, revision: 0 };
  const mutate = (propose: (state: Snapshot) => PlanOutcome) => server.committer.mutate({ ...call, propose });
  if (act.does === 'apply') {
    scene.latest.set(act.source, act);
    await apply(scene, server, act, act.force);
  } else if (act.does === 'wait') {
    if (act.expire) await endOverrides(server, account);
  } else if (act.does === 'detach') {
    scene.latest.delete(act.source);
    await mutate((snapshot) => planDetach({ snapshot, source: act.source, newId: server.newId }));
    await putClaims(server.database, account, { source: act.source, claims: {}, at: server.now() });
  } else if (act.does === 'rollback') await rollBack(scene, server, act.back);
  else await change(scene, server, act);
}

async function apply(
  { account }: Scene,
  server: Engine,
  { source, said }: Extract<Act, { readonly does: 'apply' }>,
  force: boolean,
): Promise<void> {
  const claimed = applyRequest(source, documentsOf(said), { force, allowEmpty: true });
  await applyDocuments(server, { account, actor: { type: 'source', id: source, name: source }, revision: 0 }, claimed);
}

async function change(
  { account }: Scene,
  server: Engine,
  act: Exclude<Act, { readonly does: 'apply' | 'wait' | 'detach' | 'rollback' }>,
): Promise<void> {
  const call = { account, actor, revision: 0 };
  const options = { strict: false };
  const thing = thingIn(await server.snapshots.current(account), act.key);
  if (act.does === 'create') {
    const body = { name: act.key, ...bodyOf(new Map(), act.units) };
    if (thing === undefined) await createObject(server, call, thingKind, body, options);
  } else if (thing === undefined) return;
  else if (act.does === 'delete') await deleteObject(server, call, thingKind, thing.id, options);
  else if (act.does === 'enrol') {
    const propose = (snapshot: Snapshot) => joined(snapshot, thing.id, act.person);
    await server.committer.mutate({ ...call, propose });
  } else {
    const { glass } = act;
    const breakGlass = glass === undefined ? {} : { breakGlass: { reason: 'r', seconds: glass * 60 } };
    const units = worldOf(emptySnapshot(worldRegistry, account).with({ put: [thing], remove: [] })).get(act.key)?.units;
    const body = { name: act.key, ...bodyOf(units ?? new Map(), act.change) };
    await replaceObject(server, call, thingKind, thing.id, body, { ...options, ...breakGlass });
  }
}

async function rollBack({ account }: Scene, server: Engine, back: number): Promise<void> {
  const { revision } = await server.snapshots.fresh(account);
  const past = await pastOf(server, account, Math.max(1, revision - 1 - back));
  const propose = (snapshot: Snapshot) =>
    finished(
      planRollback({
        snapshot,
        past,
        scope: 'all',
        now: server.now(),
        newId: server.newId,
        planEnvironment: server.planEnvironment,
      }),
    );
  await server.committer.mutate({ account, actor, revision, propose });
}

/** Returns a past state computed from the history alone, starting at the oldest stored base. */
function pastOf({ database }: Engine, account: string, revision: number): Promise<Snapshot> {
  return createPastStates(database, worldRegistry, createSnapshots(database, worldRegistry)).at(account, revision);
}

/** Reconciles all sources until nothing changes, which shows that no two sources keep undoing each other's changes. */
async function settle(scene: Scene): Promise<void> {
  const { account, latest } = scene;
  for (let round = 0; round <= sources.length; round++) {
    const before = await serverOf(scene, round).snapshots.fresh(account);
    for (const act of latest.values()) await apply(scene, serverOf(scene, round), act, false);
    const after = await serverOf(scene, round).snapshots.fresh(account);
    // A round without a new revision may still record a conflict, so the first such round does not count.
    if (after.revision === before.revision && round > 0) return;
  }
  throw new Error('the sources do not come to rest');
}

async function check(scene: Scene): Promise<void> {
  const { servers, account, sequence, now } = scene;
  const [first = serverOf(scene, 0)] = servers;
  const stored = await loadSnapshot(first.database, worldRegistry, account);
  if (stored === undefined) throw new Error('the account is gone');
  const replayed = await pastOf(first, account, stored.revision);
  const states = [replayed, ...(await Promise.all(servers.map((server) => server.snapshots.fresh(account))))];
  for (const [at, state] of states.entries())
    if (textOf(state) !== textOf(stored))
      throw new Error(
        `${at === 0 ? 'replaying gives' : `server ${at} has`}\n${textOf(state)}\nand not\n${textOf(stored)}`,
      );
  // A member that enrols while the source of the thing is refused stays until the source is applied again.
  const drifts = driftOf(stored, timeAt(now)).filter((drift) => drift.stated !== undefined);
  for (const { by, path, because } of drifts)
    if (sequence.modes.get(by.source) === 'guard' && (because.why === 'api' || because.why === 'pending'))
      throw new Error(`${by.source} states another ${path} than there is`);
  for (const { owner, declared, name } of stored.ofKind('Thing'))
    if (owner !== undefined && !declared.some(({ source }) => source === owner))
      throw new Error(`${name} is owned by ${owner}, which says nothing about it`);
}

function textOf(state: Snapshot): string {
  const objects = [...state.objects()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return canonicalJson(JSON.parse(JSON.stringify(objects)) as Json);
}
