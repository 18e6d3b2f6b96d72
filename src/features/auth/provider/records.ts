import type { Adapter, AdapterPayload } from 'oidc-provider';
import {
  consumeRecord,
  deleteGrant,
  deleteRecord,
  type FoundRecord,
  findRecord,
  putRecord,
  type RecordKey,
} from '../../../db/accounts/idp-records.ts';
import type { Database } from '../../../db/database.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import { sealContexts, type Vault } from '../../../model/schema/sealing.ts';

/** Parts that the records of the provider need. */
export interface RecordsOptions {
  readonly database: Database;
  readonly vault: Vault;
}

/** How long a record without an expiry is kept, in seconds. */
const defaultLifetimeSeconds = 30 * 86_400;

/** Creates the adapter of `oidc-provider`. Ids are stored as hashes and payloads sealed, because both grant access. */
export function createAdapter({ database, vault }: RecordsOptions): (model: string) => Adapter {
  return (model) => {
    const find = async (key: RecordKey, value: string): Promise<AdapterPayload | undefined> => {
      const row = await findRecord(database, model, key, hashId(value));
      if (row === undefined) return undefined;
      const payload = unseal<AdapterPayload>(vault, model, row);
      if (payload === undefined || row.consumed_at === null) return payload;
      return { ...payload, consumed: Math.floor(row.consumed_at.getTime() / 1000) };
    };
    return {
      async upsert(id, payload, expiresIn = defaultLifetimeSeconds) {
        if (model === 'DeviceCode') await requireShortDeviceCode(payload);
        const { accountId: user, grantId, uid, userCode } = payload;
        await putRecord(database, {
          ...sealRecord(vault, model, id, payload),
          lifetimeSeconds: expiresIn,
          user,
          // A grant has its own id here, so that it is deleted together with its tokens.
          grant: hashOf(model === 'Grant' ? id : grantId),
          uid: hashOf(uid),
          code: hashOf(userCode),
        });
      },
      find: (id) => find('id', id),
      findByUid: (uid) => find('uid_hash', uid),
      findByUserCode: (code) => find('code_hash', code),
      async consume(id) {
        // Of two concurrent requests with the same code, only one succeeds.
        if (await consumeRecord(database, model, hashId(id))) return;
        const { errors } = await import('oidc-provider');
        throw new errors.InvalidGrant('already used');
      },
      destroy: (id) => deleteRecord(database, model, hashId(id)),
      revokeByGrantId: (grant) => deleteGrant(database, hashId(grant)),
    };
  };
}

/**
 * Maximum size of a device sign-in that nobody has approved yet, in characters. It contains the parameters of the
 * request, which anyone may send. Requests of devices have about 200 characters.
 */
const maxPendingDeviceCharacters = 4096;

async function requireShortDeviceCode(payload: AdapterPayload): Promise<void> {
  if (payload.accountId !== undefined || JSON.stringify(payload).length <= maxPendingDeviceCharacters) return;
  const { errors } = await import('oidc-provider');
  throw new errors.InvalidRequest(`the parameters are longer than ${maxPendingDeviceCharacters} characters together`);
}

/** Small records of our own that expire, stored in the same way as those of the provider. */
export interface OwnRecords<Value> {
  put(id: string, value: Value, seconds: number, user?: string): Promise<void>;
  find(id: string): Promise<Value | undefined>;
  drop(id: string): Promise<void>;
}

/** Creates the access to notes of one kind. */
export function createOwnRecords<Value>({ database, vault }: RecordsOptions, model: string): OwnRecords<Value> {
  return {
    async put(id, value, seconds, user) {
      await putRecord(database, { ...sealRecord(vault, model, id, value), user, lifetimeSeconds: seconds });
    },
    async find(id) {
      const row = await findRecord(database, model, 'id', hashId(id));
      return row === undefined ? undefined : unseal<Value>(vault, model, row);
    },
    drop: (id) => deleteRecord(database, model, hashId(id)),
  };
}

/** Returns the hash by which the store identifies a secret id, such as the uid of a session. */
export function hashId(value: string): string {
  return sha256(value);
}

function hashOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : hashId(value);
}

/** Returns a record as it is stored: with the hash of its id, and a sealed payload that opens only in its context. */
function sealRecord(vault: Vault, model: string, id: string, value: unknown) {
  const hashed = hashId(id);
  return { model, id: hashed, payload: vault.seal(JSON.stringify(value), sealContexts.providerRecord(model, hashed)) };
}

/**
 * Returns the payload of a record; `undefined` when it was sealed with a lost key. The record then counts as deleted,
 * and people sign in again.
 */
function unseal<Value>(vault: Vault, model: string, { id, payload }: FoundRecord): Value | undefined {
  let text: string;
  try {
    text = vault.open(payload, sealContexts.providerRecord(model, id));
  } catch {
    return undefined;
  }
  // The text was written by the functions above.
  return JSON.parse(text) as Value;
}
