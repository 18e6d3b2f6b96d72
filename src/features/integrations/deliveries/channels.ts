import type { Engine } from '../../../commit/engine.ts';
import { asObject, isObject, type JsonObject } from '../../../lib/json.ts';
import { mapSecrets, openSecret, placeOf } from '../../../model/schema/secret-fields.ts';
import type { Channel } from './target.ts';

/** What a kind says about its objects as receivers of events. */
type ReadChannel = (spec: JsonObject) => Omit<Channel, 'account' | 'id'>;

/** By kind, one line each; the kinds say `delivers`. */
const readers: Readonly<Record<string, ReadChannel>> = {
  NotificationChannel: readNotificationChannel,
};

/** A stored object to which events are delivered. */
export interface StoredChannel {
  readonly account: string;
  readonly id: string;
  readonly kind: string;
  readonly spec: JsonObject;
}

/** The object as a channel. Its settings hold secrets as they are stored. */
export function readChannel({ account, id, kind, spec }: StoredChannel): Channel {
  const read = readers[kind];
  if (read === undefined) return { account, id, type: '', enabled: false, wants: () => false, settings: undefined };
  return { account, id, ...read(spec) };
}

/** The same with its secrets opened. Throws `Internal` when one does not open. */
export function openChannel({ registry, planEnvironment }: Engine, stored: StoredChannel): Channel {
  const { account, id, kind, spec } = stored;
  const opened = mapSecrets(registry.get(kind).spec, spec, (text, path, field) =>
    openSecret(field, text, placeOf(account, id, path), planEnvironment.vault),
  );
  return readChannel({ ...stored, spec: opened });
}

function readNotificationChannel({ type, target, event_types: types, enabled }: JsonObject): ReturnType<ReadChannel> {
  const codes = new Set(Array.isArray(types) ? types.map(String) : []);
  return {
    type: String(type),
    enabled: enabled === true,
    wants: (code) => codes.has(code),
    settings: isObject(target) ? asObject(target) : undefined,
  };
}
