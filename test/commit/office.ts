import { createEngine } from '../../src/app.ts';
import { bootstrapAccount, type FirstObject, storedObject } from '../../src/commit/bootstrap.ts';
import type { Call, Engine } from '../../src/commit/engine.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import type { ApplyRequest } from '../../src/features/config/plans/apply-request.ts';
import { buildAccountObjects } from '../../src/kinds/new-account.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { LogLine } from '../../src/log.ts';
import type { Fault } from '../../src/model/declare/kind.ts';
import type { Document } from '../../src/model/document.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { finishPlan } from '../../src/plan/finish.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { type Engine as EngineName, type TestDatabase, testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';

export const actor = { type: 'user', id: 'u1', name: 'Ana', granted: 'owner' } as const;

/** A server without HTTP: an engine on a database with an account of three peers. */
export interface Office extends AsyncDisposable {
  readonly engine: Engine;
  readonly account: string;
  readonly call: Call;
  readonly database: Database;
  readonly made: TestDatabase;
  readonly logged: LogLine[];
  /** Starts a second server on the same Postgres. */
  another(): Promise<Engine>;
}

/** Creates an office on a separate database. `await using` closes it. */
export async function newOffice(name: EngineName): Promise<Office> {
  const made = await testDatabase(name);
  const logged: LogLine[] = [];
  const engine = createEngine({ database: made.database, log: (line) => logged.push(line) });
  const { account } = present(await bootstrapAccount(engine, actor, (id) => firstObjects(engine, id)));
  const others: Database[] = [];
  const call = { account, actor, revision: 0 };
  await enrol(engine, call);
  return {
    engine,
    account,
    call,
    database: made.database,
    made,
    logged,
    async another() {
      const database = await openDatabase(made.url === undefined ? {} : { url: made.url });
      others.push(database);
      return createEngine({ database, log: (line) => logged.push(line) });
    },
    async [Symbol.asyncDispose]() {
      await engine.committer.settle();
      for (const database of others) await database.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

/** Returns the objects of a new account. */
export function firstObjects(engine: Engine, accountId: string): readonly FirstObject[] {
  const inputs = { accountId, owner: { id: engine.newId(), name: 'owner' }, now: engine.now(), newId: engine.newId };
  return buildAccountObjects({
    ...inputs,
    networkRange: '100.72.0.0/16',
    networkRangeV6: 'fd00:1234:5678::/64',
    domain: '',
  });
}

/** Adds the peers `p1`, `p2` and `p3`. */
async function enrol(engine: Engine, call: Call): Promise<void> {
  const kind = engine.registry.get('Peer');
  const peer = (at: number) => ({
    id: `p${at}`,
    kind: 'Peer',
    key: `p${at}`,
    spec: canonicalSpec(kind, { name: `Peer ${at}`, dns_label: `p${at}`, ip: `100.72.0.${at}` }).spec,
    derived: {},
  });
  const propose = (state: Snapshot) =>
    putAll(
      engine,
      state,
      [1, 2, 3].map((at) => ({ after: storedObject(engine, peer(at), engine.now()) })),
    );
  await engine.committer.mutate({ ...call, propose });
}

/** Plans some edits. */
export function putAll(
  engine: Engine,
  snapshot: Snapshot,
  edits: Parameters<typeof finishPlan>[0]['edits'],
): PlanOutcome {
  const locate = (_: unknown, { code, message }: Fault) => ({
    code,
    message,
  });
  return finishPlan({ snapshot, edits, locate, newId: engine.newId });
}

/** Plans the creation of a group. */
export function withGroup(engine: Engine, state: Snapshot, name: string): PlanOutcome {
  const { spec } = canonicalSpec(engine.registry.get('Group'), { name });
  const after = storedObject(engine, { id: engine.newId(), kind: 'Group', key: name, spec, derived: {} }, engine.now());
  return putAll(engine, state, [{ after }]);
}

/** Returns an apply request of a source, with defaults for all other options. */
export function applyRequest(
  source: string,
  documents: readonly Document[],
  more: Partial<ApplyRequest> = {},
): ApplyRequest {
  return { source, documents, problems: [], locate: (problems) => problems, prune: true, allowEmpty: false, ...more };
}

/** Returns a policy body with one rule, from the group to itself. */
export function policyBody(name: string, group: string, more: JsonObject = {}): JsonObject {
  const rule = {
    name: 'r',
    enabled: true,
    action: 'accept',
    bidirectional: true,
    protocol: 'all',
    sources: [group],
    destinations: [group],
  };
  return { name, enabled: true, rules: [rule], ...more };
}

/** Runs a statement with `asOwner` and returns its rows. */
export async function rowsOf(database: Database, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  let rows: readonly Readonly<Record<string, unknown>>[] = [];
  await database.asOwner(async (run) => {
    rows = await run(sql);
  });
  return rows;
}

/** Returns the numbers of all revisions, in ascending order. */
export async function revisionsOf(database: Database): Promise<readonly number[]> {
  return (await rowsOf(database, 'select revision from revisions order by revision')).map(({ revision }) =>
    Number(revision),
  );
}

/** Returns the numbers from 1 to `last`. */
export function upTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, at) => at + 1);
}
