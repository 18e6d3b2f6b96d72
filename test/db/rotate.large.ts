import { randomBytes } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { keyBytes } from '../../src/db/sealing/derive-key.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { sealContextOf } from '../../src/model/schema/secret-fields.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';
import { rowsOf } from '../setup/rows.ts';
import { account, channel, insert, looksSealed, newKey, oldKey, reseal, rotate, sealIn } from './rotation.ts';

/** Inserts a channel with everything that is stored about it: the declaration of a source, and history. */
async function insertWithHistory(database: Database, id: string, spec: JsonObject): Promise<void> {
  await insert(database, id, 'NotificationChannel', spec);
  const declared = [{ source: 's', stated: spec, file: '', line: 0 }];
  const image = { id, kind: 'NotificationChannel', name: looksSealed, spec, declared };
  const { target } = spec;
  await database.asOwner(async (run) => {
    await run(
      "insert into declared (account_id, object_id, source_id, stated, file, line) values ($1, $2, 's', $3::jsonb, '', 0)",
      [account, id, JSON.stringify(spec)],
    );
    await run(
      `insert into changes (account_id, revision, seq, action, kind, object_id, units, image)
       values ($1, 1, (select count(*) from changes), 'update', 'NotificationChannel', $2, $3::jsonb, $4::jsonb)`,
      [
        account,
        id,
        JSON.stringify([{ path: 'target', before: target, after: target }]),
        JSON.stringify({ declared: { put: declared, drop: [] } }),
      ],
    );
    await run('insert into base_objects (account_id, object_id, image) values ($1, $2, $3::jsonb)', [
      account,
      id,
      JSON.stringify(image),
    ]);
  });
}

async function ask(database: Database, sql: string): Promise<readonly Record<string, unknown>[]> {
  return database.lookUp(CompiledQuery.raw(sql) as CompiledQuery<Record<string, unknown>>);
}

eachEngine('key rotation on %s', (engine) => {
  it('seals every secret in its context under the new key, in history too, and changes nothing else', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    await insertWithHistory(database, 'o', channel(sealIn(createVault([oldKey]), 'o', 'unbound')));
    await insert(database, 'g', 'Group', { name: looksSealed, description: looksSealed });
    await database.asOwner(["insert into sealing (form) values ('unbound')"]);
    expect(await rotate(database, createVault([newKey, oldKey], 'binding'))).toBe(4);
    expect(await rotate(database, createVault([newKey]))).toBe(0);
    const spec = channel(sealIn(createVault([newKey]), 'o', 'bound'));
    const rows = await ask(
      database,
      `select o.spec, d.stated, c.units, c.image, b.image as base from objects o join declared d on d.object_id = o.id
       join changes c on c.object_id = o.id join base_objects b on b.object_id = o.id`,
    );
    const { target } = spec;
    const declared = [{ source: 's', stated: spec, file: '', line: 0 }];
    expect(rows).toEqual([
      {
        ...{ spec, stated: spec, units: [{ path: 'target', before: target, after: target }] },
        image: { declared: { put: declared, drop: [] } },
        base: { id: 'o', kind: 'NotificationChannel', name: looksSealed, spec, declared },
      },
    ]);
    expect(await ask(database, "select spec from objects where kind = 'Group'")).toEqual([
      { spec: { name: looksSealed, description: looksSealed } },
    ]);
    expect(await ask(database, 'select form from sealing')).toEqual([{ form: 'bound' }]);
  });

  it('seals plain-text webhook addresses of earlier releases, in history too, and only once', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const vault = createVault([newKey]);
    const secret = sealIn(vault, 'o', 'bound');
    await insertWithHistory(database, 'o', channel(secret, { url: 'https://x.example.com/let-me-in' }));
    const stream = {
      platform: 'generic_http',
      config: { url: 'https://x.example.com/let-me-in', body_template: '{}' },
    };
    await insert(database, 's', 'EventStreaming', stream);
    await database.asOwner(["insert into sealing (form) values ('unbound')"]);
    expect(await rotate(database, createVault([newKey], 'binding'))).toBe(5);
    expect((await rowsOf(database)).filter((row) => row.includes('let-me-in'))).toEqual([]);
    expect(await rotate(database, vault)).toBe(0);
    const [row] = await ask(database, "select spec -> 'config' as config from objects where id = 's'");
    const { url = '', ...rest } = (row?.['config'] ?? {}) as Record<string, string>;
    expect(rest).toEqual({ body_template: '{}' });
    expect(vault.open(url, sealContextOf(account, 's', ['config', 'url']))).toBe('https://x.example.com/let-me-in');
  });

  it('keeps undecryptable secrets unchanged, reports each once, and seals the others', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const [vault, lost] = [createVault([newKey, oldKey], 'binding'), createVault([randomBytes(keyBytes)])];
    const texts = {
      junk: 'sealed:junk',
      lost: sealIn(lost, 'lost', 'unbound'),
      moved: sealIn(createVault([oldKey]), 'good', 'bound'),
      plain: 'password of somebody',
    };
    await database.asOwner(["insert into sealing (form) values ('unbound')"]);
    await insert(database, 'good', 'NotificationChannel', channel(sealIn(createVault([oldKey]), 'good', 'unbound')));
    // The history contains each text several times.
    for (const [id, text] of Object.entries(texts)) await insertWithHistory(database, id, channel(text));
    const left = (id: string, reason: RegExp) => ({
      ...{ what: 'object', account, object: id, path: 'target.headers.X-Key' },
      reason: expect.stringMatching(reason),
    });
    const unreadable = [
      left('junk', /does not have the form of a sealed secret$/),
      left('lost', new RegExp(`key ${lost.keyId}, which this server does not have`)),
      left('moved', /sealed for a different place than the one where it is stored/),
      left('plain', /does not have the form of a sealed secret$/),
    ];
    expect(await reseal(database, vault)).toEqual({ rows: 1, unreadable, unreadableCount: 4 });
    const good = sealIn(createVault([newKey]), 'good', 'bound');
    const specs = Object.entries({ good, ...texts }).map(([id, text]) => ({ id, spec: channel(text) }));
    expect(await ask(database, 'select id, spec from objects order by id')).toEqual(specs);
    // Unreadable secrets do not stop later rotations either.
    expect(await reseal(database, createVault([newKey, oldKey]))).toEqual({ rows: 0, unreadable, unreadableCount: 4 });
  });

  it('refuses the unbound form after the transition, unless --accept-unbound is given', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    await insert(database, 'o', 'NotificationChannel', channel(sealIn(createVault([oldKey]), 'o', 'unbound')));
    await expect(reseal(database, createVault([oldKey]))).rejects.toThrow(
      /^account a, object o, target.headers.X-Key: .* --accept-unbound/,
    );
    expect(await ask(database, "select count(*) as rows from revisions where actor ->> 'id' = 'secrets'")).toEqual([
      { rows: 0 },
    ]);
    expect(await rotate(database, createVault([oldKey]), true)).toBe(1);
    expect(await ask(database, 'select spec from objects')).toEqual([
      { spec: channel(sealIn(createVault([oldKey]), 'o', 'bound')) },
    ]);
  });

  it('prevents programs from starting that know only the unbound form', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    await database.asOwner(["insert into sealing (form) values ('unbound')"]);
    const before = await ask(database, 'select migration from heddle_schema');
    await rotate(database, createVault([oldKey], 'binding'));
    const [row] = await ask(
      database,
      `select migration, oldest_program from heddle_schema order by applied_at desc, oldest_program desc limit 1`,
    );
    expect(row).toEqual({ migration: 'sealed to their places', oldest_program: before.length });
    await database.asOwner(["delete from heddle_schema where migration = 'sealed to their places'"]);
  });

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
