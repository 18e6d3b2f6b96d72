import { hashPassword } from '../../src/features/auth/passwords.ts';
import { cheapPasswordCost } from '../setup/password-cost.ts';
import { present } from '../setup/present.ts';
import type { Scene } from './idp-scene.ts';
import type { signingIn } from './signing-in.ts';

/** Returns functions that create people whose addresses are also addresses of users in other accounts. */
export function sharing(scene: () => Scene, { visitor }: ReturnType<typeof signingIn>) {
  /** Copies rows of the scene's account, with changes. */
  async function copy(table: string, column: string, value: string, changes: Readonly<Record<string, string>>) {
    await scene().sql(
      `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || $1::jsonb)).* from ${table} t
       where account_id = $2 and ${column} = $3`,
      [JSON.stringify(changes), present(scene().server.account), value],
    );
  }

  /** Creates a person and, in another account, a user with the same address and the password `theirs`. */
  async function twoUsers(theirs: string, passwordCost = cheapPasswordCost) {
    const person = await visitor({ passwordCost });
    const [account, there] = [`other-${person.id}`, `there-${person.id}`];
    const own = present(scene().server.account);
    const hash = await hashPassword({ passwordCost }, theirs);
    await copy('accounts', 'account_id', own, { account_id: account });
    await copy('objects', 'id', own, { account_id: account, id: account });
    await copy('objects', 'id', person.id, { account_id: account, id: there, name: 'There' });
    await copy('object_keys', 'object_id', person.id, { account_id: account, object_id: there });
    await copy('credentials', 'user_id', person.id, { account_id: account, user_id: there, password_hash: hash });
    return { ...person, account, there };
  }

  return { copy, twoUsers };
}
