import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import type { Database } from '../../src/db/database.ts';
import { keyBytes } from '../../src/db/sealing/derive-key.ts';
import { resealAll } from '../../src/db/sealing/rotate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { SealForm, Vault } from '../../src/model/schema/sealing.ts';
import { sealContextOf } from '../../src/model/schema/secret-fields.ts';

export const account = 'a';
const registry = productRegistry();
export const [oldKey, newKey] = [randomBytes(keyBytes), randomBytes(keyBytes)];

/** A text that users may enter in any text field, and that looks like a sealed secret. */
export const looksSealed = 'sealed: the box on the shelf';

const contextOf = (id: string) => sealContextOf(account, id, ['target', 'headers', 'X-Key']);
export const sealIn = (vault: Vault, id: string, form: SealForm) => vault.seal(`secret of ${id}`, contextOf(id), form);

/** Returns the spec of a webhook channel with this secret. */
export function channel(secret: Json, more: JsonObject = {}): JsonObject {
  const target = { ...more, headers: { 'X-Key': secret } };
  return { type: 'webhook', event_types: [], enabled: true, target };
}

/** Inserts an object into the account, which is created if it does not exist. */
export async function insert(database: Database, id: string, kind: string, spec: JsonObject): Promise<void> {
  await database.asOwner(async (run) => {
    await run('insert into accounts (account_id, created_at) values ($1, now()) on conflict do nothing', [account]);
    await run(
      `insert into objects (account_id, id, kind, name, spec, created_revision, updated_revision, created_at, updated_at)
       values ($1, $2, $3, $2, $4::jsonb, 1, 1, now(), now())`,
      [account, id, kind, JSON.stringify(spec)],
    );
  });
}

export const reseal = (database: Database, vault: Vault, acceptUnbound = false) =>
  resealAll(database, { registry, vault, form: 'bound', acceptUnbound });

/** Reseals all secrets, expects every one to be readable, and returns the number of rows that were written. */
export async function rotate(database: Database, vault: Vault, acceptUnbound = false): Promise<number> {
  const { rows, unreadable, unreadableCount } = await reseal(database, vault, acceptUnbound);
  expect([unreadable, unreadableCount]).toEqual([[], 0]);
  return rows;
}
