import type { Call, Engine } from '../../commit/engine.ts';
import type { ObjectOutput } from '../../commit/shown-once.ts';
import { readSyncLogs } from '../../features/logs/sync-logs.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { nounOf } from '../../model/declare/kind-noun.ts';
import { storedId } from '../../model/declare/wire-id.ts';
import { NotFound } from '../../model/errors.ts';
import { readObject, renewObject } from '../../objects/objects.ts';
import { integrations as operations } from '../../operations/integrations.ts';
import { sendLong, versionsOf } from '../answers/answers.ts';
import { setStoredBody } from '../idempotency.ts';
import { implement } from '../operations/implement.ts';

/** Operations of directory and SCIM integrations, in addition to their configuration. */
export const integrations = implement(operations, (engine, { requestSync }) => ({
  async sync({ call, params, query: { dry_run: dryRun } }) {
    const { kind, id } = subjectOf(engine, 'DirectoryIntegration', params);
    const { object } = await readObject(engine, call, kind, id);
    return await requestSync(call, object, { dryRun });
  },
  listDirectoryLogs: async ({ call, params, request, reply }) =>
    sendLong(request, reply, await readLogs(engine, call, 'DirectoryIntegration', params)),
  listScimLogs: async ({ call, params, request, reply }) =>
    sendLong(request, reply, await readLogs(engine, call, 'ScimIntegration', params)),
  renewToken: {
    async handle({ call, params, request, reply }) {
      const { kind, id } = subjectOf(engine, 'ScimIntegration', params);
      const ifMatch = versionsOf(request.headers['if-match']);
      const options = { strict: false, ...(ifMatch === undefined ? {} : { ifMatch }) };
      const { outputs } = await renewObject(engine, call, kind, id, options);
      setStoredBody(request, {});
      return reply.header('cache-control', 'no-store').send(outputs);
    },
    recover: async (_given, { once }) =>
      once?.outputs === undefined ? undefined : { auth_token: tokenOf(once.outputs) },
  },
}));

/**
 * Returns the kind and the id of the integration that a request names. Throws `NotFound` for an id that cannot exist.
 */
function subjectOf(engine: Engine, name: string, { id: number }: { readonly id: number }): Subject {
  const kind = engine.registry.get(name);
  const id = storedId(kind, String(number));
  if (id === undefined) throw new NotFound(`${nounOf(kind.name)} ${number} not found`);
  return { kind, id };
}

function tokenOf(outputs: readonly ObjectOutput[]): string {
  return String(outputs.find(({ field }) => field === 'auth_token')?.value ?? '');
}

interface Subject {
  readonly kind: Kind;
  readonly id: string;
}

async function readLogs(engine: Engine, call: Call, name: string, params: { readonly id: number }) {
  const { kind, id } = subjectOf(engine, name, params);
  const entries = await readSyncLogs(engine, call, kind, id);
  const body = entries.map((entry) => ({ ...entry, timestamp: entry.timestamp.toISOString() }));
  return { version: entries[0]?.id ?? 0, body };
}
