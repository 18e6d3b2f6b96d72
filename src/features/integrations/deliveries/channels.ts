import type { Engine } from '../../../commit/engine.ts';
import type { Feed } from '../../../db/logs/feeds.ts';
import { asObject, isObject, type JsonObject } from '../../../lib/json.ts';
import type { ActivityCode } from '../../../model/declare/activities.ts';
import { mapSecrets, openSecret, sealContextOf } from '../../../model/schema/secret-fields.ts';
import type { Channel } from './target.ts';

/** How the objects of a kind receive events. */
interface ReceiverKind {
  read(spec: JsonObject): Omit<Channel, 'account' | 'id'>;
  /** Code of the audit event that is sent as a sample. */
  readonly sampleCode: ActivityCode;
  /** Feeds that the objects receive in addition to audit events. */
  readonly feeds?: readonly Feed['name'][];
}

/** Receivers by kind, one line each. These kinds set `delivers`. */
const receivers: Readonly<Record<string, ReceiverKind>> = {
  NotificationChannel: { read: readNotificationChannel, sampleCode: 'notification.channel.test' },
  EventStreaming: {
    read: readEventStreaming,
    sampleCode: 'integration.delivery_tested',
    feeds: ['traffic', 'proxy'],
  },
};

/** Kinds whose objects receive records in addition to audit events, one entry per feed. */
export const recordReceivers = Object.entries(receivers).flatMap(([kind, { feeds = [] }]) =>
  feeds.map((feed) => ({ kind, feed })),
);

/** Returns the code of the audit event that is sent as a sample to an object of a kind. */
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

/**
 * Returns the object as a channel, with its secrets still sealed. An object of an unknown kind becomes a disabled
 * channel.
 */
export function readChannel({ account, id, kind, spec }: StoredChannel): Channel {
  const known = receivers[kind];
  if (known === undefined)
    return { account, id, type: '', enabled: false, subscribesTo: () => false, settings: undefined };
  return { account, id, ...known.read(spec) };
}

/** Returns the object as a channel with its secrets opened. Throws `Internal` when a secret does not open. */
export function openChannel({ registry, planEnvironment }: Engine, stored: StoredChannel): Channel {
  const { account, id, kind, spec } = stored;
  const opened = mapSecrets(registry.get(kind).spec, spec, (text, path, field) =>
    openSecret(field, text, sealContextOf(account, id, path), planEnvironment.vault),
  );
  return readChannel({ ...stored, spec: opened });
}

function readNotificationChannel({
  type,
  target,
  event_types: types,
  enabled,
}: JsonObject): ReturnType<ReceiverKind['read']> {
  const codes = new Set(Array.isArray(types) ? types.map(String) : []);
  return {
    type: String(type),
    enabled: enabled === true,
    subscribesTo: (code) => codes.has(code),
    settings: isObject(target) ? asObject(target) : undefined,
  };
}

/** Reads an event stream. It receives all events. */
function readEventStreaming({ platform, config, enabled }: JsonObject): ReturnType<ReceiverKind['read']> {
  return {
    type: String(platform),
    enabled: enabled === true,
    subscribesTo: () => true,
    settings: isObject(config) ? asObject(config) : undefined,
  };
}
