import { statement } from './builder.ts';
import type { Database } from './database.ts';

/** The hosts to which a file of the directory of values was shown as a credential; none when it never was. */
export async function findCredentialHosts(
  database: Database,
  account: string,
  file: string,
): Promise<readonly string[]> {
  const text = 'select hosts from credential_hosts where account_id = $1 and file = $2';
  const [row] = await database.lookUp(statement<{ readonly hosts: readonly string[] }>(text, [account, file]));
  return row?.hosts ?? [];
}

/** Notes the first host to which a file was shown; a later one changes nothing, nor does one of an account that is gone. */
export async function bindCredential(
  database: Database,
  { account, file, host }: { readonly account: string; readonly file: string; readonly host: string },
): Promise<void> {
  const text = `insert into credential_hosts (account_id, file, hosts)
select account_id, $2, array[$3] from accounts where account_id = $1 on conflict (account_id, file) do nothing`;
  await database.lookUp(statement(text, [account, file, host]));
}
