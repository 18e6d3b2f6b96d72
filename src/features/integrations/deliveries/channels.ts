import type { Engine } from '../../../commit/engine.ts';
import type { Feed } from '../../../db/logs/feeds.ts';
import { asObject, isObject, type JsonObject } from '../../../lib/json.ts';
import type { ActivityCode } from '../../../model/declare/activities.ts';
import { mapSecrets, openSecret, placeOf } from '../../../model/schema/secret-fields.ts';
import type { Channel } from './target.ts';

/** What a kind says about its objects as receivers of events. */
interface Receivers {
  read(spec: JsonObject): Omit<Channel, 'account' | 'id'>;
  /** The audit event of sending a sample to one. */
  readonly sampleCode: ActivityCode;
  /** What they receive besides audit events. */
  readonly feeds?: readonly Feed['name'][];
}

/** By kind, one line each; the kinds say `delivers`. */
const receivers: Readonly<Record<string, Receivers>> = {
  NotificationChannel: { read: readNotificationChannel, sampleCode: 'notification.channel.test' },
  EventStreaming: {
    read: readEventStreaming,
    sampleCode: 'integration.delivery_tested',
    feeds: ['traffic', 'proxy'],
  },
};

/** The kinds whose objects receive records besides audit events, each with a feed. */
export const recordReceivers = Object.entries(receivers).flatMap(([kind, { feeds = [] }]) =>
  feeds.map((feed) => ({ kind, feed })),
);

/** The audit event of sending a sample to an object of a kind. */
export function sampleCodeOf(kind: string): ActivityCode {
  return receivers[kind]?.sampleCode ?? 'integration.delivery_tested';
}

/** A stored object to which events are delivered. */
export interface StoredChannel {
  readonly account: string;
  readonly id: string;
  readonly kind: string;
  readonly spec: JsonObject;
}

/** The object as a channel. Its settings hold secrets as they are stored. */
export function readChannel({ account, id, kind, spec }: StoredChannel): Channel {
  const known = receivers[kind];
  if (known === undefined) return { account, id, type: '', enabled: false, wants: () => false, settings: undefined };
  return { account, id, ...known.read(spec) };
}

/** The same with its secrets opened. Throws `Internal` when one does not open. */
export function openChannel({ registry, planEnvironment }: Engine, stored: StoredChannel): Channel {
  const { account, id, kind, spec } = stored;
  const opened = mapSecrets(registry.get(kind).spec, spec, (text, path, field) =>
    openSecret(field, text, placeOf(account, id, path), planEnvironment.vault),
  );
  return readChannel({ ...stored, spec: opened });
}

function readNotificationChannel({
  type,
  target,
  event_types: types,
  enabled,
}: JsonObject): ReturnType<Receivers['read']> {
  const codes = new Set(Array.isArray(types) ? types.map(String) : []);
  return {
    type: String(type),
    enabled: enabled === true,
    wants: (code) => codes.has(code),
    settings: isObject(target) ? asObject(target) : undefined,
  };
}

/** All events go to platforms. */
function readEventStreaming({ platform, config, enabled }: JsonObject): ReturnType<Receivers['read']> {
  return {
    type: String(platform),
    enabled: enabled === true,
    wants: () => true,
    settings: isObject(config) ? asObject(config) : undefined,
  };
}
