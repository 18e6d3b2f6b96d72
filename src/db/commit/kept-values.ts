import type { CompiledQuery } from 'kysely';
import { insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { ExtraWrite } from './commit-together.ts';

/** Sealed values that a response shows only once, and the key of the request under which they are stored. */
export interface KeptValues {
  readonly key: string;
  readonly sealed: string;
}

/**
 * Returns the text that stores values with a request that has no response yet. `key` and `sealed` are SQL expressions.
 * `from` is the `from` clause on which the update depends.
 */
function keepText(key: string, sealed: string, from = ''): string {
  return `update idempotency_keys k set answer = coalesce(k.answer, '{}') || jsonb_build_object('sealed', ${sealed}::text)
  ${from} where k.account_id = $1 and k.key = ${key} and k.status is null`;
}

/**
 * Returns the clause that stores the values of the requests of a commit. `rows` is an SQL expression: a JSON list of
 * `KeptValues`.
 */
export function keepRowsText(rows: string): string {
  return keepText('x.key', 'x.sealed', `from head, json_to_recordset(${rows}) as x(key text, sealed text)`);
}

/** Returns a statement that ends with `insertAuditText`. If `kept` is given, the statement also stores these values. */
export function statementKeepingValues<Row>(
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

/** Returns the write that stores values in the same transaction as plans of several accounts. */
export function putKeptValues(account: string, { key, sealed }: KeptValues): ExtraWrite {
  return { account, statement: statement(keepText('$2', '$3'), [account, key, sealed]) };
}
