import { expect } from 'vitest';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { createObject } from '../../src/objects/objects.ts';
import { objectsOf } from '../plan/invariants.ts';
import { onServer } from '../setup/sql.ts';
import { newOffice, policyBody, revisionsOf, rowsOf, upTo } from './office.ts';

const killAll =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'heddle'";

/**
 * Writes with two servers until so many writes are acknowledged, and ends all their connections so many times meanwhile.
 */
export async function checkKilledConnections(writes: number, kills: number): Promise<void> {
  await using office = await newOffice('postgres');
  const { engine, call, made } = office;
  const other = await office.another();
  const kind = engine.registry.get('Policy');
  const all = (await engine.snapshots.current(office.account)).lookUp('Group', 'name', 'All')[0]?.id ?? '';
  const acknowledged = new Set<string>();
  const refused: unknown[] = [];
  let done = 0;
  const writer = async (client: number) => {
    for (let at = 0; acknowledged.size < writes || done < kills; at++) {
      // Names of policies need not be unique, so only the engine prevents that a write happens twice.
      const name = `p${client}-${at}`;
      try {
        await createObject(client % 2 === 0 ? engine : other, call, kind, policyBody(name, all), { strict: false });
        acknowledged.add(name);
      } catch (error) {
        refused.push(error);
      }
    }
  };
  const killer = async () => {
    for (; done < kills; done++) await onServer(made.url ?? '', killAll);
  };
  await Promise.all([killer(), ...upTo(8).map(writer)]);
  const rows = await rowsOf(
    office.database,
    "select name, count(*)::int as count from objects where kind = 'Policy' and name <> 'Default' group by name",
  );
  expect(rows.filter(({ count }) => count !== 1)).toEqual([]);
  expect(rows.map(({ name }) => String(name)).sort()).toEqual([...acknowledged].sort());
  expect(refused.every((error) => error instanceof Unavailable && !error.inDoubt)).toBe(true);
  const revisions = await revisionsOf(office.database);
  expect(revisions).toEqual(upTo(revisions.length));
  const stored = await loadSnapshot(office.database, engine.registry, office.account);
  expect(objectsOf(await engine.snapshots.fresh(office.account))).toEqual(
    stored === undefined ? undefined : objectsOf(stored),
  );
}
