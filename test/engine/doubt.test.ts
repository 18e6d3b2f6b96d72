import { describe, expect, it } from 'vitest';
import { createObject } from '../../src/engine/objects.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { loadSnapshot } from '../../src/store/snapshots.ts';
import { objectsOf } from '../plan/invariants.ts';
import { onServer } from '../setup/sql.ts';
import { newOffice, policyBody, revisionsOf, rowsOf, upTo } from './office.ts';

const killAll =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'heddle'";

describe('a commit whose connection is killed', () => {
  it('E96 was written once if it was acknowledged and not at all if it was refused, with two servers at work', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, made } = office;
    const other = await office.another();
    const kind = engine.registry.get('Policy');
    const all = (await engine.snapshots.current(office.account)).lookUp('Group', 'name', 'All')[0]?.id ?? '';
    const acknowledged = new Set<string>();
    const refused: unknown[] = [];
    let kills = 0;
    const writer = async (client: number) => {
      for (let at = 0; acknowledged.size < 300 || kills < 60; at++) {
        // Names of policies may repeat, so nothing but the engine keeps a write from happening twice.
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
      for (; kills < 60; kills++) await onServer(made.url ?? '', killAll);
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
  });
});
