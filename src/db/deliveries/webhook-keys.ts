import { type AuditEntry, auditParameters, headText, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A stored key with which webhooks of an account are signed. */
export interface WebhookKeyRow {
  readonly id: string;
  /** Public key in the form in which receivers see it. */
  readonly public_key: string;
  readonly sealed: string;
  readonly created_at: Date;
  /** Time at which a newer key replaced it. Null for the current key. */
  readonly retired_at: Date | null;
}

/** A new key to store. */
export type NewWebhookKey = Pick<WebhookKeyRow, 'id' | 'public_key' | 'sealed'>;

/** Hours for which a replaced key still signs, in addition to the new key. */
const overlapHours = 24;

const listText = `select id, public_key, sealed, created_at, retired_at from webhook_keys
where account_id = $1 and (retired_at is null or retired_at > clock_timestamp() - interval '${overlapHours} hours')
order by retired_at desc nulls first, created_at desc`;

/** Returns the keys that sign, newest first. */
export async function listWebhookKeys(database: Database, account: string): Promise<readonly WebhookKeyRow[]> {
  const [rows] = await database.inAccount(account, [statement<WebhookKeyRow>(listText, [account])]);
  return rows;
}

/** Stores the first key of an account. Does nothing when another server has stored one at the same time. */
export async function addFirstKey(database: Database, account: string, key: NewWebhookKey): Promise<void> {
  await database.inAccount(account, [
    statement(`${insertText} from accounts where account_id = $1 on conflict do nothing`, valuesOf(account, key)),
  ]);
}

/** Replaces the signing key by a new key, and writes the audit event. */
export async function replaceWebhookKey(
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
