import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApi } from '../api/setup.ts';
import { rows } from './fields.ts';
import { cloudOnly, counts, operations } from './operations.ts';
import type { Row } from './row.ts';
import { tryOperation } from './walk.ts';
import { createWorld, type World } from './world.ts';

const all = Object.values(operations).flat();

describe('the table of API operations', () => {
  it('has all 147 operations, each once', () => {
    expect(Object.fromEntries(Object.entries(operations).map(([name, list]) => [name, list.length]))).toEqual(counts);
    expect(all.length).toBe(147);
    expect(new Set(all).size).toBe(147);
  });

  it('specifies the request and the answer of each operation, and no other', () => {
    expect(Object.keys(rows).sort()).toEqual([...all].sort());
    expect(all).toEqual(expect.arrayContaining([...cloudOnly]));
  });

  it('is written by hand and imports nothing from the declarations', () => {
    const tables = readdirSync(import.meta.dirname).filter((name) =>
      /^(fields|operations|limits|constraints|bodies|expected-absences)(-\w+)?\.ts$/.test(name),
    );
    const imports = tables.flatMap((name) => [
      ...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/from '(\.\.[^']+)'/g),
    ]);
    expect([...new Set(imports.map(([, from]) => from))].sort()).toEqual([
      '../../src/lib/json.ts',
      '../setup/certificates.ts',
    ]);
  });
});

/** The operations of one table; `walk.large.ts` tests all of them, in both editions. */
describe('the self-hosted edition', () => {
  const api = sharedApi();
  let world: World;
  beforeAll(() => {
    world = createWorld(api(), 'self-hosted', new Map());
  });

  it.each(operations['Groups'] ?? [])('serves %s as specified', async (operation) => {
    const row = rows[operation] as Row;
    expect(await tryOperation({ world, operation, row, refusals: true, seen: new Set() })).toEqual([]);
  });
});
