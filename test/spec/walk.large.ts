import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApi } from '../api/setup.ts';
import { requestsOf } from '../integrations/directory/requests.ts';
import { membersOf } from './check-answer.ts';
import { hostedOnly, unseen } from './expected-absences.ts';
import { rows } from './fields.ts';
import { cloudOnly, operations } from './operations.ts';
import type { Row } from './row.ts';
import type { Member } from './shape.ts';
import { pathOf, tryOperation } from './walk.ts';
import { createWorld, type World } from './world.ts';

const all = Object.values(operations).flat();

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
    const parameters = { peerId: await world.peer() };
    const answer = await api().call(method, pathOf(operation, parameters), method === 'GET' ? undefined : {});
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
