import { expect, it } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import { placeOf } from '../../src/model/secret-fields.ts';
import { keyBytes } from '../../src/store/derive-key.ts';
import { checkKey, watchKey } from '../../src/store/sealing.ts';
import { createVault } from '../../src/store/vault.ts';
import { WrongKey } from '../../src/store/wrong-key.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';

const registry = productRegistry();
const vaultOf = (byte: number) => createVault([new Uint8Array(keyBytes).fill(byte)], 'unbound');

eachEngine('the key of an installation on %s', (engine) => {
  it('is that of the first server, and of those that have it too', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    await checkKey(database, registry, vaultOf(1));
    await checkKey(database, registry, vaultOf(1));
    await checkKey(
      database,
      registry,
      createVault([new Uint8Array(keyBytes).fill(2), new Uint8Array(keyBytes).fill(1)]),
    );
    await expect(checkKey(database, registry, vaultOf(2))).rejects.toThrow(WrongKey);
    await expect(watchKey(database, vaultOf(2))).rejects.toThrow(WrongKey);
  });

  it('is known by what servers of the previous release sealed', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const place = placeOf('a', 'o', ['secret']);
    await database.asOwner(async (run) => {
      await run("insert into accounts (account_id, created_at) values ('a', now())");
      await run("insert into sealing (form) values ('unbound')");
      await run(
        `insert into objects (account_id, id, kind, spec, created_revision, updated_revision, created_at, updated_at)
         values ('a', 'o', 'EdrVendorB', $1::jsonb, 1, 1, now(), now())`,
        [JSON.stringify({ client_id: 'sealed: not at all', secret: vaultOf(1).seal('hunter2', place) })],
      );
    });
    await expect(checkKey(database, registry, vaultOf(2))).rejects.toThrow(WrongKey);
    const vault = vaultOf(1);
    await checkKey(database, registry, vault);
    expect(vault.form).toBe('unbound');
  });

  it('comes with the form in which the installation seals', async () => {
    await using made = await testDatabase(engine);
    const vault = vaultOf(1);
    await checkKey(made.database, registry, vault);
    // No server of an earlier release was ever here.
    expect(vault.form).toBe('bound');
  });
});
