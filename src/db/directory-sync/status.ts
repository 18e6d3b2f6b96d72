import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { DirectorySyncRow } from './progress.ts';

/** Status of the sync of an integration. */
export interface SyncStatusRow
  extends Pick<DirectorySyncRow, 'failures' | 'last_error' | 'waiting' | 'secret_basis' | 'secret_ends_at'> {
  readonly integration_id: string;
  /** Time of the last completed sync, including one that waits for an approval. */
  readonly ended_at: Date | null;
}

/** Returns the status of all syncs of an account. */
export async function listSyncStatus(database: Database, account: string): Promise<readonly SyncStatusRow[]> {
  const [rows] = await database.inAccount(account, [statement<SyncStatusRow>(statusText, [account])]);
  return rows;
}

const statusText = `select integration_id, failures, last_error, waiting, ended_at, secret_basis, secret_ends_at
from directory_syncs where account_id = $1`;
