import { describe, expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import { activities } from '../../src/model/declare/activities.ts';
import type { Described } from './described.ts';
import { inPhases, leftOut } from './example-order.ts';
import { createScene, isStream } from './example-scene.ts';
import { type TestApi, testApi, token } from './setup.ts';

describe.each([
  ['self-hosted', 'specification'],
  ['hosted', 'specification'],
  ['hosted', 'compatible'],
] as const)('every example of the %s edition in the profile %s', (edition, profile) => {
  it('can be sent with real ids, and is answered as documented', async () => {
    const txt = new Map<string, readonly string[]>();
    await using api = await testApi('postgres', {
      edition,
      profile: { profile, allowsHeader: false },
      cities: async () => [{ city_name: 'Berlin', geoname_id: 2950159 }],
      resolveTxt: async (name) => txt.get(name) ?? [],
    });
    const scene = await createScene(api, edition, txt);
    const begun = await api.revision();
    const tried: string[] = [];
    const faults: string[] = [];
    const attempt = async (of: Described): Promise<void> => {
      tried.push(of.name);
      faults.push(...(isStream(of) ? await follow(api.app, of) : await scene.attempt(of)));
    };
    const postponed = await inPhases(scene, scene.operations, attempt);
    faults.push(...postponed.map(({ name }) => `${name}: nothing made what it names`));
    expect(faults).toEqual([]);
    expect([...tried, ...Object.keys(leftOut)].sort()).toEqual(scene.operations.map(({ name }) => name).sort());
    expect(await changesWithoutEvents(api, begun)).toEqual({ revisions: [], codes: [] });
  });
});

/**
 * Requests a stream over a socket and aborts it after the headers, because a stream does not end by itself. Returns the
 * faults.
 */
async function follow(
  app: Awaited<ReturnType<typeof testApi>>['app'],
  { name, path, answer }: Described,
): Promise<readonly string[]> {
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  const ended = new AbortController();
  const response = await fetch(`${base}${path}`, {
    headers: { authorization: `Token ${token}` },
    signal: ended.signal,
  });
  const [status, type] = [response.status, response.headers.get('content-type')?.split(';')[0]];
  ended.abort();
  return status === answer.status && type === 'text/event-stream' ? [] : [`${name} answers ${status} ${type}`];
}

/**
 * Returns gaps in the audit log: revisions after `since` that changed objects without an event, and event codes that
 * are not in the catalogue.
 */
async function changesWithoutEvents({ engine, account }: TestApi, since: number) {
  const [events = [], changes = []] = await engine.database.inAccount(account, [
    queryBuilder.selectFrom('audit_events').selectAll().compile(),
    queryBuilder.selectFrom('changes').selectAll().compile(),
  ]);
  const reported = new Set(events.map(({ revision }) => revision));
  const silent = changes.filter(({ revision }) => revision > since && !reported.has(revision));
  return {
    revisions: silent.map(({ revision, action, kind, name, units }) => ({ revision, action, kind, name, units })),
    codes: events.map(({ activity_code: code }) => code).filter((code) => !(code in activities)),
  };
}
