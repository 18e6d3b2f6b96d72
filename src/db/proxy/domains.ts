import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { AccountAccess, Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';

/** A custom domain whose DNS records are due for a check. */
export interface DueDomain {
  readonly account: string;
  readonly domain: string;
}

/**
 * Returns the custom domains of all accounts that are due for a check, those that have waited longest first. Leaves out
 * domains that another server checks at the moment. Returns at most `most.ofAccount` domains of one account: domains of
 * that account that wait for a free slot would otherwise leave no room for other accounts.
 */
export async function findDueDomains(
  database: Database,
  { owner, most }: { readonly owner: string; readonly most: { readonly inAll: number; readonly ofAccount: number } },
): Promise<readonly DueDomain[]> {
  return database.lookUp(statement<DueDomain>(dueText, [owner, most.inAll, most.ofAccount]));
}

const dueText = `select account, domain from (
select d.account_id as account, d.domain_id as domain, d.next_at,
  row_number() over (partition by d.account_id order by d.next_at nulls first) as rank
from proxy_domains d
join objects o on o.account_id = d.account_id and o.id = d.domain_id
left join leases l on l.account_id = d.account_id and l.name = 'proxy-domain/' || d.domain_id
  and l.until > clock_timestamp() and l.owner <> $1
where l.name is null
  and (d.next_at is null or d.next_at <= clock_timestamp() or d.tried_revision is distinct from o.updated_revision)
) due where rank <= $3
order by next_at nulls first limit $2`;

/** Returns the number of custom domains of all accounts that are not validated. */
export async function countUnvalidated(database: Database): Promise<number> {
  const [row] = await database.lookUp(
    statement<{ readonly count: number }>('select count(*) as count from proxy_domains where not validated', []),
  );
  return row?.count ?? 0;
}

/** Creates the row of each custom domain that has none, that is, of domains created since the last call. */
export async function createMissingDomains(database: Database): Promise<void> {
  await database.lookUp(statement<object>(createMissingText, []));
}

const createMissingText = `insert into proxy_domains (account_id, domain_id)
select o.account_id, o.id from objects o where o.kind = 'ProxyDomain'
  and not exists (select from proxy_domains d where d.account_id = o.account_id and d.domain_id = o.id)
on conflict do nothing
returning 1`;

/** Findings of the checks of a custom domain. */
export interface DomainFindings {
  readonly domain_id: string;
  readonly validated: boolean;
  /** Whether the domain was proved and this account was the last one to prove it. */
  readonly proved: boolean;
  readonly problem: string | null;
  readonly checked_at: Date | null;
  readonly failures: number;
}

/** Returns the findings for an account's custom domains, or for `domain` only. */
export async function readDomainFindings(
  database: AccountAccess,
  account: string,
  domain?: string,
): Promise<readonly DomainFindings[]> {
  const [rows] = await database.inAccount(account, [
    statement<DomainFindings>(findingsText, [account, domain ?? null]),
  ]);
  return rows;
}

const findingsText = `select d.domain_id, d.validated, p.domain is not null as proved, d.problem, d.checked_at, d.failures
from proxy_domains d left join proved_domains p on p.account_id = d.account_id and p.domain_id = d.domain_id
where d.account_id = $1 and ($2::text is null or d.domain_id = $2)`;

/** Schedules a check of a custom domain: at once, but not before `restSeconds` after the start of the last check. */
export async function scheduleCheck(
  database: AccountAccess,
  account: string,
  domain: string,
  restSeconds: number,
): Promise<void> {
  await database.inAccount(account, [statement(scheduleText, [account, domain, String(restSeconds)])], { write: true });
}

const scheduleText = `insert into proxy_domains as d (account_id, domain_id) values ($1, $2)
on conflict (account_id, domain_id) do update
  set next_at = greatest(clock_timestamp(), d.checked_at + $3::text::float8 * interval '1 second')`;

/**
 * A custom domain and the lease of the worker that checks it. Writes of the worker are refused once the lease is lost.
 */
export interface HeldDomain {
  readonly account: string;
  readonly domain: string;
  readonly lease: Pick<Lease, 'name' | 'fence'>;
}

const isHeld = `exists (
  select from leases l where l.account_id = $1 and l.name = $3 and l.fence = $4 and l.until > clock_timestamp())`;

const nextAt = (wait: string): string => `clock_timestamp() + ${wait}::float8 * interval '1 millisecond'`;

/**
 * Records that a check begins, and schedules the next one in case this one never ends. Returns the previous findings;
 * `undefined` when the lease is lost or another server was faster.
 */
export async function beginCheck(
  database: Database,
  { account, domain, lease }: HeldDomain,
  { waitMs, revision }: { readonly waitMs: number; readonly revision: number },
): Promise<Pick<DomainFindings, 'validated' | 'failures'> | undefined> {
  const [[row]] = await database.inAccount(
    account,
    [
      statement<Pick<DomainFindings, 'validated' | 'failures'>>(beginText, [
        ...[account, domain, lease.name, lease.fence],
        ...[waitMs, revision],
      ]),
    ],
    { write: true },
  );
  return row;
}

const beginText = `update proxy_domains set next_at = ${nextAt('$5')}, tried_revision = $6, checked_at = clock_timestamp()
where account_id = $1 and domain_id = $2 and ${isHeld}
  and (next_at is null or next_at <= clock_timestamp() or tried_revision is distinct from $6)
returning validated, failures`;

/** Type of the DNS record that proved a domain. */
export type ProofMethod = 'txt' | 'cname';

/** Owner of a domain after a claim. */
export interface ClaimResult {
  readonly isOurs: boolean;
  /** The account that had the domain before; absent when no other account had it. */
  readonly former?: string;
}

/**
 * Assigns a domain to the account whose DNS record proves it. An account that has the domain already keeps it while it
 * is validated, except that a TXT record, which names the account, takes precedence over a CNAME record, which does
 * not. Returns `undefined` when the lease is lost.
 */
export async function claimDomain(
  database: Database,
  { account, domain, lease }: HeldDomain,
  { name, method }: { readonly name: string; readonly method: ProofMethod },
): Promise<ClaimResult | undefined> {
  const [row] = await database.lookUp(
    statement<{ readonly ours: boolean; readonly held: boolean; readonly former: string | null }>(claimText, [
      ...[account, domain, lease.name, lease.fence],
      ...[name, method],
    ]),
  );
  if (row === undefined || !row.held) return undefined;
  return { isOurs: row.ours, ...(row.former === null || !row.ours ? {} : { former: row.former }) };
}

// The domain of the account that loses it is checked again at once, and that check reports the loss.
const claimText = `with former as (
  select account_id, domain_id from proved_domains where domain = $5 and (account_id, domain_id) <> ($1, $2)
), claimed as (
  insert into proved_domains as p (domain, account_id, domain_id, method, proved_at)
  select $5, d.account_id, d.domain_id, $6, clock_timestamp() from proxy_domains d
  where d.account_id = $1 and d.domain_id = $2 and ${isHeld}
  on conflict (domain) do update set account_id = excluded.account_id, domain_id = excluded.domain_id,
    method = excluded.method, proved_at = clock_timestamp()
  where (p.account_id = excluded.account_id and p.domain_id = excluded.domain_id)
    or (p.method = 'cname' and excluded.method = 'txt')
    or exists (select from proxy_domains d
      where d.account_id = p.account_id and d.domain_id = p.domain_id and not d.validated)
  returning 1
), lost as (
  update proxy_domains d set next_at = null from former f
  where d.account_id = f.account_id and d.domain_id = f.domain_id and exists (select from claimed)
)
select exists (select from claimed) as ours, ${isHeld} as held, (select account_id from former) as former`;

/** Result of a check. */
export interface CheckResult {
  readonly validated: boolean;
  /** What was expected, and what was found instead. Absent when the domain is proved. */
  readonly problem?: string;
  readonly failures: number;
  /** Time until the next check, in milliseconds. */
  readonly waitMs: number;
  /** Audit event of the check. Absent when nothing happened that users need to know. */
  readonly entry?: AuditEntry;
}

/** Records the result of a check, with the audit event that reports it. Writes nothing when the lease is lost. */
export async function endCheck(
  database: Database,
  { account, domain, lease }: HeldDomain,
  { validated, problem, failures, waitMs, entry }: CheckResult,
): Promise<void> {
  const values = [lease.name, lease.fence, validated, problem ?? null, failures, waitMs];
  const text =
    entry === undefined ? endText(3) : `with done as (${endText(10)}), ${headAfter('done')} ${insertAuditText}`;
  const parameters =
    entry === undefined ? [account, domain, ...values] : [...auditParameters(account, entry), domain, ...values];
  await database.inAccount(account, [statement(text, parameters)], { write: true });
}

/** `$1` is the account, and the parameter before `at` is the domain. */
function endText(at: number): string {
  const [name, fence, validated, problem, failures, wait] = Array.from({ length: 6 }, (_, step) => `$${at + step}`);
  return `update proxy_domains set validated = ${validated}, problem = ${problem}, failures = ${failures},
  next_at = ${nextAt(wait ?? '')}
where account_id = $1 and domain_id = $${at - 1} and exists (
  select from leases l where l.account_id = $1 and l.name = ${name} and l.fence = ${fence} and l.until > clock_timestamp())
returning 1`;
}

/** Returns whether another account has proved a domain by a TXT record that still existed at the last check. */
export async function isProvedElsewhere(database: Database, account: string, name: string): Promise<boolean> {
  const found = await database.lookUp(statement<object>(elsewhereText, [account, name]));
  return found.length > 0;
}

const elsewhereText = `select 1 from proved_domains p
join proxy_domains d on d.account_id = p.account_id and d.domain_id = p.domain_id
where p.domain = $2 and p.account_id <> $1 and p.method = 'txt' and d.validated`;
