import type { Engine } from '../../../commit/engine.ts';
import { beginCheck, type CheckResult, claimDomain, endCheck, type HeldDomain } from '../../../db/proxy/domains.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { RunningJob } from '../../integrations/job-runner.ts';
import { type FoundProof, lookForProof } from './proof.ts';

/** Options for checking custom domains. */
export interface CheckOptions {
  readonly engine: Engine;
  /** Returns a number between 0 and 1. */
  random(): number;
  /** Interval of checks of a validated domain, in milliseconds. Absent: one hour. */
  readonly everyMs?: number | undefined;
  /**
   * Wait after the first failure, in milliseconds. It doubles with each further failure, up to `everyMs`. Absent: 15 s.
   */
  readonly firstRetryMs?: number | undefined;
}

const defaultIntervalMs = 3_600_000;
const defaultFirstRetryMs = 15_000;
/** Number of consecutive checks that do not find the record before a validated domain lapses. */
const maxMissedChecks = 3;

type PreviousCheck = NonNullable<Awaited<ReturnType<typeof beginCheck>>>;

/** Looks up the record that proves a custom domain, and stores the result. */
export async function checkDomain(options: CheckOptions, { account, lease }: RunningJob, id: string): Promise<void> {
  const { engine } = options;
  const state = await engine.snapshots.fresh(account);
  const domain = state.find('ProxyDomain', id);
  if (domain === undefined) return;
  const held = { account, domain: id, lease };
  const times = { waitMs: retryDelayMs(options, 0), revision: domain.updatedRevision };
  const before = await beginCheck(engine.database, held, times);
  if (before === undefined) return;
  const found = await lookForProof(engine, {
    ...{ domain: domain.spec.domain ?? '', text: domain.derived.proof ?? '' },
    ...{ cluster: domain.spec.target_cluster ?? '', isClusterKnown: isClusterKnown(domain, state) },
  });
  const proof = await claimIfProved(options, held, domain, found);
  if (proof === undefined) return;
  const result = resultOf(options, before, proof, found.outcome === 'proved');
  const event = eventOf(domain, before, result);
  const entry = event === undefined ? {} : { entry: { actor: systemActor, event, at: engine.now() } };
  await endCheck(engine.database, held, { ...result, ...entry });
  engine.observer.report({ what: 'proxy_domain_check', outcome: proof.outcome });
  if (event !== undefined) engine.notices.publish({ what: 'domains', account });
}

const systemActor = { type: 'system', id: 'sys', name: 'system' } as const;

function isClusterKnown({ spec }: Stored<'ProxyDomain'>, state: Snapshot): boolean {
  return state.lookUp('ProxyCluster', 'name', spec.target_cluster ?? '').length > 0;
}

/**
 * Claims a proved domain for the account. The result is `absent` when another account has proved the domain. Returns
 * `undefined` when the lease is lost.
 */
async function claimIfProved(
  { engine }: CheckOptions,
  held: HeldDomain,
  { spec: { domain: name = '' } }: Stored<'ProxyDomain'>,
  found: FoundProof,
): Promise<FoundProof | undefined> {
  if (found.outcome !== 'proved') return found;
  const claimed = await claimDomain(engine.database, held, { name, method: found.method });
  if (claimed === undefined) return undefined;
  if (claimed.former !== undefined) engine.notices.publish({ what: 'domains', account: claimed.former });
  if (claimed.isOurs) return found;
  const more = found.method === 'txt' ? '' : ', or add the TXT record, which takes precedence over a CNAME record';
  const problem = `another account of this server has proved the ownership of ${name}; have the domain deleted there and its record removed${more}`;
  return { outcome: 'absent', problem };
}

/**
 * Returns the result of a check. A domain that another account has proved lapses at once. A record that was not found
 * may be back at the next check.
 */
function resultOf(options: CheckOptions, before: PreviousCheck, proof: FoundProof, isFound: boolean): CheckResult {
  const { everyMs = defaultIntervalMs } = options;
  const spread = 0.9 + options.random() / 5;
  if (proof.outcome === 'proved') return { validated: true, failures: 0, waitMs: everyMs * spread };
  const failures = before.failures + 1;
  const isGone = isFound || (proof.outcome === 'absent' && failures >= maxMissedChecks);
  const { problem } = proof;
  return { validated: before.validated && !isGone, problem, failures, waitMs: retryDelayMs(options, before.failures) };
}

function retryDelayMs(
  { random, everyMs = defaultIntervalMs, firstRetryMs = defaultFirstRetryMs }: CheckOptions,
  failures: number,
) {
  return Math.min(everyMs, firstRetryMs * 2 ** Math.min(failures, 20)) * (0.9 + random() / 5);
}

function eventOf(
  { id, spec: { domain = '', target_cluster = '' } }: Stored<'ProxyDomain'>,
  before: PreviousCheck,
  { validated, problem = '' }: CheckResult,
): AuditEvent | undefined {
  if (validated === before.validated) return undefined;
  const meta = { domain, target_cluster, validated: String(validated) };
  if (validated) return { code: 'domain.validate', target: id, meta };
  return { code: 'domain.lapse', target: id, meta: { ...meta, reason: problem } };
}
