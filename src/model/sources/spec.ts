import type { Json, JsonObject } from '../../lib/json.ts';
import { gitMembers, serverRunMembers, settingsMembers } from './schema.ts';

/** Where a source is defined: in the configuration of a server, or through the API. */
export type ManagedBy = 'server' | 'api';

/**
 * Members that name files of a server. They are not recorded for sources of the server configuration, because they do
 * not concern the account.
 */
const serverFileMembers: ReadonlySet<string> = new Set(['credentials', 'webhook', 'verifySignatures']);

const recordedMembers: Readonly<Record<string, readonly string[]>> = {
  directory: ['path', ...Object.keys(serverRunMembers)],
  git: Object.keys(gitMembers),
  kubernetes: ['cluster', 'namespace', 'requested', ...Object.keys(settingsMembers)],
  push: Object.keys(settingsMembers),
};

/** Returns the spec to record for a source, from its stated settings. */
export function recordedSpec(type: string, stated: object, managedBy: ManagedBy): JsonObject {
  const known = recordedMembers[type] ?? [];
  const entries = Object.entries(stated).filter(
    (entry): entry is [string, Json] =>
      entry[1] !== undefined &&
      known.includes(entry[0]) &&
      !(managedBy === 'server' && serverFileMembers.has(entry[0])),
  );
  return { managedBy, ...Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/**
 * Whether the server configuration defines the source, instead of the API. Older servers did not record this; their
 * directory sources count as defined by the server.
 */
export function isServerManaged(type: string, spec: JsonObject): boolean {
  return spec['managedBy'] === 'server' || (type === 'directory' && spec['managedBy'] === undefined);
}
