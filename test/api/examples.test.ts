import { describe, expect, it } from 'vitest';
import { build } from '../../src/db/builder.ts';
import { activities } from '../../src/model/declare/activities.ts';
import type { Described } from './described.ts';
import { createScene, inTheirOrder, isCreation, isStream } from './example-scene.ts';
import { type TestApi, testApi, token } from './setup.ts';

/** Operations whose example cannot be sent yet, and why. */
const leftOut: Readonly<Record<string, string>> = {
  'POST /agent/enrol': 'wants a proof by a key and the answer to a challenge; see enrolment.test.ts',
  'POST /agent/login': 'wants a proof by the key of a peer; see enrolment.test.ts',
  'POST /agent/traffic': 'wants a session and a proof; see agent-traffic.test.ts',
  'POST /agent/facts': 'wants a session and a proof; see enrolment.test.ts',
  'POST /agent/services': 'wants a session and a proof; see exposure.test.ts',
  'POST /agent/services/{serviceId}/renew': 'wants a session and a proof; see exposure.test.ts',
  'DELETE /agent/services/{serviceId}': 'wants a session and a proof; see exposure.test.ts',
  'GET /agent/stream': 'wants a session and a proof; see agent-stream.test.ts',
  ...Object.fromEntries(
    ['POST /proxy/register', 'POST /proxy/heartbeat', 'POST /proxy/disconnect', 'GET /proxy/services']
      .concat('POST /proxy/service-status', 'POST /proxy/access-logs')
      .map((name) => [name, 'wants a proxy token; see proxy.test.ts']),
  ),
  'DELETE /api/accounts/{accountId}': 'ends the account that everything else is in; see account-scope.test.ts',
  'POST /api/config/restore': 'wants an archive, and an account that was never used; see archive-of-owner.test.ts',
  'POST /api/config/endpoint-security/{vendor}/approve': 'wants a sync that waits; see integrations/endpoint-security',
  'POST /api/config/deliveries/{id}/test': 'wants a channel that is there still; see deliveries.test.ts',
  'POST /api/setup': 'wants a server that nobody came to yet; see instance.test.ts',
  ...Object.fromEntries(
    ['POST /api/config/overrides', 'POST /api/config/overrides/end'].map((name) => [
      name,
      'wants an object that a source states; see overrides.test.ts',
    ]),
  ),
  ...Object.fromEntries(
    ['resume', 'retry', 'discard'].map((verb) => [
      `POST /api/config/deliveries/{id}/${verb}`,
      'wants a channel that has something to deliver; see deliveries.test.ts',
    ]),
  ),
  'POST /api/config/sources/{name}/webhook':
    'wants a source of the configuration and its signature; see the webhook tests',
};

/** The order in which the operations of one account get on with each other. */
const phases: readonly ((of: Described, all: readonly Described[]) => boolean)[] = [
  isCreation,
  ({ method }) => method === 'get',
  ({ method }) => method === 'put',
  // What acts on one object comes before what acts on the account.
  ({ method, path }) => method === 'post' && path.includes('{'),
  ({ method }) => method === 'post',
  ({ method }) => method === 'delete',
];

describe.each([
  ['self-hosted', 'specification'],
  ['hosted', 'specification'],
  ['hosted', 'compatible'],
] as const)('every example of the %s edition, as the profile %s has it,', (edition, profile) => {
  it('can be sent as it is, with real ids, and is answered as documented', async () => {
    const txt = new Map<string, readonly string[]>();
    await using api = await testApi('postgres', {
      edition,
      profile: { profile, byHeader: false },
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
    let left = scene.operations.filter(({ name }) => leftOut[name] === undefined);
    for (const phase of phases) {
      let next: readonly Described[] = left.filter((of) => phase(of, scene.operations));
      left = left.filter((of) => !next.includes(of));
      if (next[0]?.method === 'delete') next = reversed(next, tried);
      const postponed = await inTheirOrder(scene, next, attempt);
      faults.push(...postponed.map(({ name }) => `${name}: nothing made what it names`));
    }
    expect(faults).toEqual([]);
    expect([...tried, ...Object.keys(leftOut)].sort()).toEqual(scene.operations.map(({ name }) => name).sort());
    expect(await untold(api, begun)).toEqual({ revisions: [], codes: [] });
  });
});

/** What was made last goes first; what nothing here made goes in the end. */
function reversed(deletes: readonly Described[], tried: readonly string[]): readonly Described[] {
  const madeAt = ({ path }: Described): number => {
    const collection = path.replace(/\/\{\w+\}$/, '');
    return tried.indexOf(`POST ${collection}`);
  };
  return [...deletes].sort((a, b) => madeAt(b) - madeAt(a));
}

/** A stream does not end by itself, so it is asked for over a socket and given up when it has begun. */
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

/** What the audit list does not tell since a revision: revisions that changed objects without an event, and codes that no catalogue has. */
async function untold({ engine, account }: TestApi, since: number) {
  const [events = [], changes = []] = await engine.database.inAccount(account, [
    build.selectFrom('audit_events').selectAll().compile(),
    build.selectFrom('changes').selectAll().compile(),
  ]);
  const reported = new Set(events.map(({ revision }) => revision));
  const silent = changes.filter(({ revision }) => revision > since && !reported.has(revision));
  return {
    revisions: silent.map(({ revision, action, kind, name, units }) => ({ revision, action, kind, name, units })),
    codes: events.map(({ activity_code: code }) => code).filter((code) => !(code in activities)),
  };
}
