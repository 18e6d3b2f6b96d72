import { expect, it } from 'vitest';
import { createVault } from '../../src/db/sealing/vault.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';
import { channel, insert, looksSealed, newKey, oldKey, rotate, sealIn } from './rotation.ts';

eachEngine('key rotation on %s', (engine) => {
  it('terminates with 1,001 rows, whatever they contain', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const ids = Array.from({ length: 1001 }, (_, at) => `o${at}`);
    const old = createVault([oldKey]);
    await insert(database, 'first', 'NotificationChannel', channel(sealIn(old, 'first', 'bound')));
    const rows = ids.map((id) => ({ id, spec: channel(id === 'o7' ? null : sealIn(old, id, 'bound')) }));
    await database.asOwner(async (run) => {
      await run(
        `insert into objects (account_id, id, kind, name, spec, created_revision, updated_revision, created_at, updated_at)
         select 'a', x.id, 'NotificationChannel', $2, x.spec, 1, 1, now(), now()
         from jsonb_to_recordset($1::jsonb) as x(id text, spec jsonb)`,
        [JSON.stringify(rows), looksSealed],
      );
    });
    // All rows except the one without a secret. The count shows that no page repeats a row and no row is left out.
    expect(await rotate(database, createVault([newKey, oldKey]))).toBe(1001);
    expect(await rotate(database, createVault([newKey]))).toBe(0);
  });
});
