import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** The hosts that are noted for a file of the directory of values. */
export async function findCredentialHosts(
  database: Database,
  account: string,
  file: string,
): Promise<readonly string[]> {
  const text = 'select hosts from credential_hosts where account_id = $1 and file = $2';
  const [row] = await database.lookUp(statement<{ readonly hosts: readonly string[] }>(text, [account, file]));
  return row?.hosts ?? [];
}

/** The hosts of a file, and whether they were noted only now: `version` then names that very note. */
export interface CredentialBinding {
  readonly hosts: readonly string[];
  readonly isNew: boolean;
  readonly version: string;
}

/**
 * Notes a host for a file unless one is noted, and returns the noted one: of two at once only the first is. The holder
 * writes the note again, so that no other run takes it back; `undefined` when the account is gone.
 */
export async function bindCredential(
  database: Database,
  { account, file, host }: { readonly account: string; readonly file: string; readonly host: string },
): Promise<CredentialBinding | undefined> {
  const text = `insert into credential_hosts (account_id, file, hosts)
select account_id, $2, array[$3] from accounts where account_id = $1
on conflict (account_id, file) do update set hosts = credential_hosts.hosts where $3 = any(credential_hosts.hosts)
returning hosts, xmax = 0 as "isNew", xmin::text as version`;
  const [row] = await database.lookUp(statement<CredentialBinding>(text, [account, file, host]));
  if (row !== undefined) return row;
  const hosts = await findCredentialHosts(database, account, file);
  return hosts.length === 0 ? undefined : { hosts, isNew: false, version: '' };
}

/** Takes a note back that no other run has relied on since. */
export async function unbindCredential(
  database: Database,
  { account, file, version }: { readonly account: string; readonly file: string; readonly version: string },
): Promise<void> {
  const text = 'delete from credential_hosts where account_id = $1 and file = $2 and xmin::text = $3';
  await database.lookUp(statement(text, [account, file, version]));
}
