import type { Described } from './described.ts';
import { inTheirOrder, isCreation, type Scene } from './example-scene.ts';

/** Operations whose example these tests cannot send, with the reason. */
export const leftOut: Readonly<Record<string, string>> = {
  'POST /agent/enrol': 'requires a proof by a key and the answer to a challenge; see enrolment.test.ts',
  'POST /agent/login': 'requires a proof by the key of a peer; see enrolment.test.ts',
  'POST /agent/traffic': 'wants a session and a proof; see agent-traffic.test.ts',
  'POST /agent/facts': 'wants a session and a proof; see enrolment.test.ts',
  'POST /agent/services': 'wants a session and a proof; see exposure.test.ts',
  'POST /agent/services/{serviceId}/renew': 'wants a session and a proof; see exposure.test.ts',
  'DELETE /agent/services/{serviceId}': 'wants a session and a proof; see exposure.test.ts',
  'GET /agent/stream': 'wants a session and a proof; see agent-stream.test.ts',
  ...Object.fromEntries(
    ['POST /proxy/register', 'POST /proxy/heartbeat', 'POST /proxy/disconnect', 'GET /proxy/services']
      .concat('POST /proxy/service-status', 'POST /proxy/access-logs')
      .map((name) => [name, 'requires a proxy token; see proxy.test.ts']),
  ),
  'DELETE /api/accounts/{accountId}': 'ends the account that everything else is in; see account-scope.test.ts',
  'POST /api/config/restore': 'requires an archive, and an account that was never used; see archive-of-owner.test.ts',
  'POST /api/config/endpoint-security/{vendor}/approve': 'wants a sync that waits; see integrations/endpoint-security',
  'POST /api/config/deliveries/{id}/test': 'requires a channel that still exists; see deliveries.test.ts',
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
    'requires a source of the configuration and its signature; see the webhook tests',
};

/** Order of the operations on one account, in which none breaks a later one. */
const phases: readonly ((of: Described, all: readonly Described[]) => boolean)[] = [
  isCreation,
  ({ method }) => method === 'get',
  ({ method }) => method === 'put',
  // Actions on one object run before actions on the account.
  ({ method, path }) => method === 'post' && path.includes('{'),
  ({ method }) => method === 'post',
  ({ method }) => method === 'delete',
];

/**
 * Runs operations on one account in an order in which none breaks a later one. Returns the operations that were not
 * run, because no operation created the objects that they name.
 */
export async function inPhases(
  scene: Scene,
  operations: readonly Described[],
  run: (of: Described) => Promise<unknown>,
): Promise<readonly Described[]> {
  const tried: string[] = [];
  const postponed: Described[] = [];
  let left = operations.filter(({ name }) => leftOut[name] === undefined);
  for (const phase of phases) {
    let next: readonly Described[] = left.filter((of) => phase(of, scene.operations));
    left = left.filter((of) => !next.includes(of));
    if (next[0]?.method === 'delete') next = reversed(next, tried);
    const others = await inTheirOrder(scene, next, async (of) => {
      tried.push(of.name);
      await run(of);
    });
    postponed.push(...others);
  }
  return postponed;
}

/** Sorts deletions: the objects created last come first, and objects that no operation created come last. */
function reversed(deletes: readonly Described[], tried: readonly string[]): readonly Described[] {
  const madeAt = ({ path }: Described): number => {
    const collection = path.replace(/\/\{\w+\}$/, '');
    return tried.indexOf(`POST ${collection}`);
  };
  return [...deletes].sort((a, b) => madeAt(b) - madeAt(a));
}
