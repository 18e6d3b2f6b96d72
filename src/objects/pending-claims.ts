import type { Engine } from '../commit/engine.ts';
import type { AccountAccess } from '../db/database.ts';
import {
  type ClaimUpdate,
  hasNewerRevision,
  listClaims,
  putClaims,
  renewClaims,
  type StoredClaims,
} from '../db/sources/claims.ts';
import { canonicalJson, equalJson, type JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { evictionsOf, type PendingClaim, postponedIn } from '../plan/ownership/claims-of-others.ts';
import type { Plan } from '../plan/plan.ts';

/** Claims of the account's sources that were not met. */
export interface PendingClaims {
  /**
   * Number of the last change of these claims. A commit that was planned with them is refused when the number has
   * changed.
   */
  readonly sequence: number;
  readonly list: readonly PendingClaim[];
}

/** No claims, for plans that do not consider claims. */
export const noClaims: PendingClaims = { sequence: 0, list: [] };

/** Reads the unmet claims of the account's sources. */
export async function readClaims(database: AccountAccess, account: string): Promise<PendingClaims> {
  return fromStoredClaims(await listClaims(database, account));
}

/**
 * Plans with the claims of the account. When the snapshot states that there are none, no query is needed: the commit is
 * refused if there are claims by then, and a plan without a commit is made again with the current claims.
 */
export async function planWithClaims<Planned>(
  database: AccountAccess,
  { account, noClaimsSequence }: Snapshot,
  plan: (claims: PendingClaims) => Promise<Planned>,
  isCommitted: (planned: Planned) => boolean,
): Promise<Planned> {
  if (noClaimsSequence === undefined) return plan(await readClaims(database, account));
  const planned = await plan({ sequence: noClaimsSequence, list: [] });
  if (isCommitted(planned)) return planned;
  const claims = await readClaims(database, account);
  return claims.sequence === noClaimsSequence ? planned : plan(claims);
}

function fromStoredClaims({ sequence, sources }: StoredClaims): PendingClaims {
  // The functions below wrote these values, and the loops of sources wrote the keys.
  return {
    sequence,
    list: sources.map(({ source, claims }) => ({ keys: [], units: [], ...claims, source })),
  };
}

/** Unmet claims of a source whose documents were refused or wait for an approval. */
export interface UnmetClaims {
  /** Revision on which the documents were planned. */
  readonly revision: number;
  readonly lacks: Omit<PendingClaim, 'source'>;
  /**
   * Seconds after which the claims lapse. Absent for a source that a server runs, because it is planned again and
   * again.
   */
  readonly lapse?: number | undefined;
}

/**
 * Stores the unmet claims of a source, so that other sources refuse to decide against it, or stores that it has none.
 * Writes nothing when other documents of the source were applied in the meantime, because they are its claims now.
 */
export async function storeClaims(
  engine: Engine,
  account: string,
  source: string,
  { revision, lacks, lapse }: UnmetClaims,
): Promise<void> {
  const isClaim = lacks.keys.length + lacks.units.length > 0;
  const before = find(await readClaims(engine.database, account), source);
  // Unchanged claims are not written again, but a repeated push renews its claims.
  if (
    equalJson(withoutEmptyLists(mergeClaims(before, lacks)), withoutEmptyLists(before ?? {})) &&
    !(isClaim && lapse !== undefined)
  )
    return;
  await engine.database.withAccountLock(account, async (held) => {
    if (await hasNewerRevision(held, account, source, revision)) return;
    const present = find(await readClaims(held, account), source);
    const claims = withoutEmptyLists(mergeClaims(present, lacks));
    if (!equalJson(claims, withoutEmptyLists(present ?? {})))
      await putClaims(held, account, { source, claims, at: engine.now(), lapse: isClaim ? lapse : undefined });
    else if (lapse !== undefined) await renewClaims(held, account, { source, lapse });
  });
}

function find({ list }: PendingClaims, source: string): PendingClaim | undefined {
  return list.find((one) => one.source === source);
}

/**
 * Merges new claims into the stored ones. A refused plan does not show what it would leave for later, so the `blocked`
 * and `pending` of the last plan are kept. Units that were taken by force are kept too, unless the source has no unmet
 * claims.
 */
function mergeClaims(before: PendingClaim | undefined, lacks: Omit<PendingClaim, 'source'>): Partial<PendingClaim> {
  const { blocked = before?.blocked ?? [], pending = before?.pending ?? [], keys, units } = lacks;
  const evicted = keys.length + units.length === 0 ? [] : (before?.evicted ?? []);
  return { keys, units, blocked, pending, evicted };
}

/**
 * Returns the claims after a commit of a source. Its own claims are met. Sources from which it took units by force have
 * lost theirs.
 */
export function claimsAfter(
  registry: Registry,
  plan: Plan,
  { list }: PendingClaims,
  at: string,
): readonly ClaimUpdate[] {
  const { source = '' } = plan;
  const own = { source, claims: withoutEmptyLists(postponedIn(plan)), at };
  const known = list.find((one) => one.source === source);
  const isSame = equalJson(own.claims, withoutEmptyLists(known ?? {}));
  const evictions = Map.groupBy(evictionsOf(registry, plan), (eviction) => eviction.source);
  const others = [...evictions].map(([other, lost]) => {
    const before = list.find((one) => one.source === other);
    const units = [...(before?.evicted ?? []), ...lost.map(({ unit }) => unit)];
    const evicted = [...new Map(units.map((unit) => [canonicalJson({ ...unit }), unit])).values()];
    return { source: other, claims: withoutEmptyLists({ ...before, evicted }), at };
  });
  return [...(isSame ? [] : [own]), ...others];
}

/** Returns the lists that are not empty. */
function withoutEmptyLists({
  keys = [],
  units = [],
  blocked = [],
  pending = [],
  evicted = [],
}: Partial<PendingClaim>): JsonObject {
  const lists = Object.entries({ keys, units, blocked, pending, evicted }).filter(([, list]) => list.length > 0);
  return Object.fromEntries(lists);
}
