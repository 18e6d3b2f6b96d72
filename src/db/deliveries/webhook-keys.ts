import { type AuditEntry, auditParameters, headText, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A key with which webhooks of an account are signed, as it is stored. */
export interface WebhookKeyRow {
  readonly id: string;
  /** As it is shown to receivers. */
  readonly public_key: string;
  readonly sealed: string;
  readonly created_at: Date;
  /** Since when another one follows it. */
  readonly retired_at: Date | null;
}

/** A key to be stored. */
export type NewWebhookKey = Pick<WebhookKeyRow, 'id' | 'public_key' | 'sealed'>;

/** For how many hours a key that is followed by another one signs along. */
const overlapHours = 24;

const listText = `select id, public_key, sealed, created_at, retired_at from webhook_keys
where account_id = $1 and (retired_at is null or retired_at > clock_timestamp() - interval '${overlapHours} hours')
order by retired_at desc nulls first, created_at desc`;

/** The keys that sign, the newest first. */
export async function listWebhookKeys(database: Database, account: string): Promise<readonly WebhookKeyRow[]> {
  const [rows] = await database.inAccount(account, [statement<WebhookKeyRow>(listText, [account])]);
  return rows;
}

/** Stores the first key of an account; of several servers that do so at once one has its way. */
export async function addFirstKey(database: Database, account: string, key: NewWebhookKey): Promise<void> {
  await database.inAccount(account, [
    statement(`${insertText} from accounts where account_id = $1 on conflict do nothing`, valuesOf(account, key)),
  ]);
}

/** Follows the key that signs with a new one, and notes that in the audit log. */
export async function followKey(
  database: Database,
  account: string,
  key: NewWebhookKey,
  entry: AuditEntry,
): Promise<void> {
  await database.inAccount(
    account,
    [
      statement(retireText, [account]),
      statement(`${insertText} from accounts where account_id = $1`, valuesOf(account, key)),
      statement(`with ${headText} ${insertAuditText}`, auditParameters(account, entry)),
    ],
    { write: true },
  );
}

const retireText =
  'update webhook_keys set retired_at = clock_timestamp() where account_id = $1 and retired_at is null';
const insertText = `insert into webhook_keys (account_id, id, public_key, sealed, created_at)
select $1, $2, $3, $4, clock_timestamp()`;

function valuesOf(account: string, { id, public_key, sealed }: NewWebhookKey): readonly string[] {
  return [account, id, public_key, sealed];
}
