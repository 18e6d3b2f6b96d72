import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * Returns the hosts that are recorded for a credential file of the directory of values. The file may be shown to these
 * hosts.
 */
export async function findCredentialHosts(
  database: Database,
  account: string,
  file: string,
): Promise<readonly string[]> {
  const text = 'select hosts from credential_hosts where account_id = $1 and file = $2';
  const [row] = await database.lookUp(statement<{ readonly hosts: readonly string[] }>(text, [account, file]));
  return row?.hosts ?? [];
}

/**
 * The recorded hosts of a credential file. With `isNew`, this call recorded them, and `version` identifies that record.
 */
export interface CredentialBinding {
  readonly hosts: readonly string[];
  readonly isNew: boolean;
  readonly version: string;
}

/**
 * Records a host for a credential file unless a host is recorded already, and returns the recorded hosts. Of two
 * concurrent calls, only the first one records. A call with a recorded host writes the record again, so that no other
 * run deletes it. Returns `undefined` when the account is deleted.
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

/** Deletes the record of a credential file, unless another run has relied on it since. */
export async function unbindCredential(
  database: Database,
  { account, file, version }: { readonly account: string; readonly file: string; readonly version: string },
): Promise<void> {
  const text = 'delete from credential_hosts where account_id = $1 and file = $2 and xmin::text = $3';
  await database.lookUp(statement(text, [account, file, version]));
}
