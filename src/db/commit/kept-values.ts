import type { CompiledQuery } from 'kysely';
import { insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { ExtraWrite } from './commit-together.ts';

/** Values that a request shows once, sealed, under the stored key of the request. */
export interface KeptValues {
  readonly key: string;
  readonly sealed: string;
}

/** Keeps values with a request that has no answer yet; `key` and `sealed` are expressions, `from` is what the update hangs on. */
function keepText(key: string, sealed: string, from = ''): string {
  return `update idempotency_keys k set answer = coalesce(k.answer, '{}') || jsonb_build_object('sealed', ${sealed}::text)
  ${from} where k.account_id = $1 and k.key = ${key} and k.status is null`;
}

/** The clause that keeps the values of the requests of a commit; `rows` is JSON of `KeptValues`. */
export function keepRowsText(rows: string): string {
  return keepText('x.key', 'x.sealed', `from head, json_to_recordset(${rows}) as x(key text, sealed text)`);
}

/** A statement that ends with its audit event, which also keeps values if there are any. */
export function keepingValues<Row>(
  text: string,
  parameters: readonly unknown[],
  kept: KeptValues | undefined,
): CompiledQuery<Row> {
  if (kept === undefined) return statement<Row>(text, parameters);
  const at = parameters.length;
  const clause = `, kept as (${keepText(`$${at + 1}`, `$${at + 2}`, 'from head')})\n${insertAuditText}`;
  return statement<Row>(
    text.replace(insertAuditText, () => clause),
    [...parameters, kept.key, kept.sealed],
  );
}

/** The statement that keeps values with plans of several accounts. */
export function putValues(account: string, { key, sealed }: KeptValues): ExtraWrite {
  return { account, statement: statement(keepText('$2', '$3'), [account, key, sealed]) };
}
