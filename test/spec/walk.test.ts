import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApi } from '../api/setup.ts';
import { requestsOf } from '../integrations/directory/requests.ts';
import { membersOf } from './check-answer.ts';
import { hostedOnly, unseen } from './expected-absences.ts';
import { rows } from './fields.ts';
import { cloudOnly, counts, operations } from './operations.ts';
import type { Row } from './row.ts';
import type { Member } from './shape.ts';
import { pathOf, tryOperation } from './walk.ts';
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

describe.each(['self-hosted', 'hosted'] as const)('the %s edition', (edition) => {
  const txt = new Map<string, readonly string[]>();
  const api = sharedApi({ edition, resolveTxt: async (name) => txt.get(name) ?? [], requestSync: requestsOf() });
  const seen = new Set<Member>();
  let world: World;
  beforeAll(() => {
    world = createWorld(api(), edition, txt);
  });
  const hidden = edition === 'hosted' ? [] : cloudOnly;
  const served = all.filter((operation) => !hidden.includes(operation));

  it.each(served)('serves %s as specified', async (operation) => {
    const row = rows[operation] as Row;
    // Required members and types do not depend on the edition, so they are tested in one edition only.
    const refusals = edition === 'self-hosted' || cloudOnly.includes(operation);
    expect(await tryOperation({ world, operation, row, refusals, seen })).toEqual([]);
  });

  it.each(hidden)('returns 404 for %s, and states the reason', async (operation) => {
    const [method = ''] = operation.split(' ');
    const place = { peerId: await world.peer() };
    const answer = await api().call(method, pathOf(operation, place), method === 'GET' ? undefined : {});
    expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('hosted edition')]);
  });

  it('returned every member of every answer, except those that nothing can produce yet', () => {
    const missing = served.flatMap((operation) => {
      const { answer } = rows[operation] as Row;
      if (typeof answer === 'string') return [];
      return membersOf(answer).flatMap(([path, member]) => (seen.has(member) ? [] : [`${operation} ${path}`]));
    });
    const nameOf = (path: string): string => path.split('/').at(-1) ?? '';
    const known = edition === 'hosted' ? unseen : { ...unseen, ...hostedOnly };
    expect(missing.filter((path) => known[nameOf(path)] === undefined)).toEqual([]);
    expect([...new Set(missing.map(nameOf))].sort()).toEqual(Object.keys(known).sort());
  });
});
