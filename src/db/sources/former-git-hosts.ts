import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Returns the hosts that Git sources of an account used before they were forbidden to reach private addresses. */
export async function listFormerGitHosts(database: Database, account: string): Promise<readonly string[]> {
  const text = 'select host from former_git_hosts where account_id = $1 order by host';
  const rows = await database.lookUp(statement<{ readonly host: string }>(text, [account]));
  return rows.map(({ host }) => host);
}
