import { expect, it } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import type { Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { SchemaTooNew } from '../../src/db/schema-too-new.ts';
import { keyBytes } from '../../src/db/sealing/derive-key.ts';
import { beginSealing, checkKey, recheckKey } from '../../src/db/sealing/sealing.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { WrongKey } from '../../src/db/sealing/wrong-key.ts';
import { sealContextOf } from '../../src/model/schema/secret-fields.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';

const registry = productRegistry();
const vaultOf = (byte: number) => createVault([new Uint8Array(keyBytes).fill(byte)], 'unbound');

/** Stores objects with secrets, by id, as servers of the previous release did. */
async function insert(database: Database, secrets: Readonly<Record<string, string>>): Promise<void> {
  const rows = Object.entries(secrets).map(([id, secret]) => ({
    id,
    spec: { client_id: 'sealed: not at all', secret },
  }));
  await database.asOwner(async (run) => {
    await run("insert into accounts (account_id, created_at) values ('a', now()) on conflict do nothing");
    await run("insert into sealing (form) values ('unbound') on conflict do nothing");
    await run(
      `insert into objects (account_id, id, kind, spec, created_revision, updated_revision, created_at, updated_at)
       select 'a', x.id, 'EdrVendorB', x.spec, 1, 1, now(), now()
       from jsonb_to_recordset($1::jsonb) as x(id text, spec jsonb)`,
      [JSON.stringify(rows)],
    );
  });
}

eachEngine('the sealing key of an installation on %s', (engine) => {
  it('is the key of the first server, and any server without it is refused', async () => {
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
    await expect(recheckKey(database, vaultOf(2))).rejects.toThrow(WrongKey);
  });

  it('is checked against secrets that servers of the previous release sealed', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    await insert(database, { o: vaultOf(1).seal('hunter2', sealContextOf('a', 'o', ['secret'])) });
    await expect(checkKey(database, registry, vaultOf(2))).rejects.toThrow(WrongKey);
    const vault = vaultOf(1);
    await checkKey(database, registry, vault);
    expect(vault.form).toBe('unbound');
  });

  it('is checked against any secret that opens, whatever else is stored', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const junk = Array.from({ length: 501 }, (_, at) => [
      `b${at}`,
      vaultOf(3).seal('lost', sealContextOf('a', 'b', ['secret'])),
    ]);
    await insert(database, { a: 'sealed:junk', ...Object.fromEntries(junk), c: 'sealed:aaaaaaaaaaaa:junk' });
    await expect(checkKey(database, registry, vaultOf(1))).rejects.toThrow(WrongKey);
    await insert(database, { d: vaultOf(1).seal('hunter2', sealContextOf('a', 'd', ['secret'])) });
    await checkKey(database, registry, vaultOf(1));
    await expect(checkKey(database, registry, vaultOf(2))).rejects.toThrow(WrongKey);
  });

  it('is the key of the first server when no stored text is a valid sealed secret', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    await insert(database, { a: 'sealed:junk', b: 'sealed:' });
    await checkKey(database, registry, vaultOf(1));
    await expect(checkKey(database, registry, vaultOf(2))).rejects.toThrow(WrongKey);
  });

  it('prevents programs that do not know the bound form from starting once servers write it', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const older = { migrations: migrations.slice(0, -1) };
    await beginSealing(database);
    // Where the unbound form was never written, there is no transition to begin, and older programs may still open the
    // database.
    expect(await migrate(database, older)).toEqual([]);
    await database.asOwner(["insert into sealing (form) values ('unbound')"]);
    await beginSealing(database);
    const vault = vaultOf(1);
    await recheckKey(database, vault);
    expect(vault.form).toBe('binding');
    await expect(migrate(database, older)).rejects.toThrow(SchemaTooNew);
    expect(await migrate(database)).toEqual([]);
    await database.asOwner(["delete from heddle_schema where migration = 'sealed to their places'"]);
  });

  it('sets the form in which the installation seals', async () => {
    await using made = await testDatabase(engine);
    const vault = vaultOf(1);
    await checkKey(made.database, registry, vault);
    // No server of an earlier release has ever used this database.
    expect(vault.form).toBe('bound');
  });
});
