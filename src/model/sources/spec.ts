import type { Json, JsonObject } from '../../lib/json.ts';
import { gitMembers, loopMembers, settingsMembers } from './schema.ts';

/** Who says what a source is: the configuration of a server, or the API. */
export type ManagedBy = 'server' | 'api';

/** Members that name files of a server: they are no business of the account. */
const ofServer: ReadonlySet<string> = new Set(['credentials', 'webhook', 'verifySignatures']);

const members: Readonly<Record<string, readonly string[]>> = {
  directory: ['path', ...Object.keys(loopMembers)],
  git: Object.keys(gitMembers),
  kubernetes: ['cluster', 'namespace', 'requested', ...Object.keys(settingsMembers)],
  push: Object.keys(settingsMembers),
};

/** What is recorded of a source, from what is stated about it. */
export function recordedSpec(type: string, stated: object, managedBy: ManagedBy): JsonObject {
  const known = members[type] ?? [];
  const entries = Object.entries(stated).filter(
    (entry): entry is [string, Json] =>
      entry[1] !== undefined && known.includes(entry[0]) && !(managedBy === 'server' && ofServer.has(entry[0])),
  );
  return { managedBy, ...Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Whether the configuration of servers says what a source is, and not the API. Sources of older servers do not say it. */
export function isOfServer(type: string, spec: JsonObject): boolean {
  return spec['managedBy'] === 'server' || (type === 'directory' && spec['managedBy'] === undefined);
}
