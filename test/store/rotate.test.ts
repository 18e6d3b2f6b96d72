import { randomBytes } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import { expect, it } from 'vitest';
import { keyBytes } from '../../src/store/derive-key.ts';
import { sealAgain } from '../../src/store/rotate.ts';
import { createVault } from '../../src/store/vault.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';

const account = 'a';

eachEngine('sealing again on %s', (engine) => {
  it('leaves no secret under the old key, in history either, and changes nothing else', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const [old, fresh] = [randomBytes(keyBytes), randomBytes(keyBytes)];
    const before = createVault([old]);
    const spec = { name: 'x', config: { key: before.seal('hunter2') }, list: [before.seal('swordfish'), 7] };
    await database.asOwner(async (run) => {
      await run('insert into accounts (account_id, created_at) values ($1, now())', [account]);
      await run(
        `insert into objects (account_id, id, kind, spec, created_revision, updated_revision, created_at, updated_at)
         values ($1, 'o', 'K', $2::jsonb, 1, 1, now(), now())`,
        [account, JSON.stringify(spec)],
      );
      await run(
        `insert into changes (account_id, revision, seq, action, kind, object_id, units) values ($1, 1, 0, 'update', 'K', 'o', $2::jsonb)`,
        [account, JSON.stringify([{ path: 'config[key]', after: before.seal('hunter2') }])],
      );
      await run('insert into base_objects (account_id, object_id, image) values ($1, $2, $3::jsonb)', [
        account,
        'o',
        JSON.stringify({ id: 'o', spec }),
      ]);
    });
    const after = createVault([fresh, old]);
    expect(await sealAgain(database, after)).toBe(3);
    expect(await sealAgain(database, after)).toBe(0);
    const rows = await database.lookUp(
      CompiledQuery.raw(
        'select o.spec, c.units, b.image from objects o join changes c using (account_id) join base_objects b using (account_id)',
        [],
      ),
    );
    const alone = createVault([fresh]);
    const seal = (text: string) => alone.seal(text);
    const sealed = { name: 'x', config: { key: seal('hunter2') }, list: [seal('swordfish'), 7] };
    expect(rows).toEqual([
      {
        spec: sealed,
        image: { id: 'o', spec: sealed },
        units: [{ path: 'config[key]', after: seal('hunter2') }],
      },
    ]);
  });
});
