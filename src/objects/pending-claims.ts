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

/** What the sources of an account claim and could not have. */
export interface PendingClaims {
  /** Which change made them so: a commit that was planned with them is refused once they are others. */
  readonly sequence: number;
  readonly list: readonly PendingClaim[];
}

/** No claims, for plans that look at none. */
export const noClaims: PendingClaims = { sequence: 0, list: [] };

/** Reads what the sources of an account claim. */
export async function readClaims(database: AccountAccess, account: string): Promise<PendingClaims> {
  return claimsIn(await listClaims(database, account));
}

/**
 * Plans with the claims of the account. The snapshot's word that there are none costs no look: a commit that was planned by
 * it is refused once there are some, and what commits nothing is planned again with those that there are now.
 */
export async function planAmongClaims<Planned>(
  database: AccountAccess,
  { account, unclaimed }: Snapshot,
  plan: (claims: PendingClaims) => Promise<Planned>,
  isCommitted: (planned: Planned) => boolean,
): Promise<Planned> {
  if (unclaimed === undefined) return plan(await readClaims(database, account));
  const planned = await plan({ sequence: unclaimed, list: [] });
  if (isCommitted(planned)) return planned;
  const claims = await readClaims(database, account);
  return claims.sequence === unclaimed ? planned : plan(claims);
}

function claimsIn({ sequence, sources }: StoredClaims): PendingClaims {
  // Written below, and the keys by the loops of sources.
  return {
    sequence,
    list: sources.map(({ source, claims }) => ({ keys: [], units: [], ...claims, source })),
  };
}

/** What a source lacks after its documents were refused or wait for an approval. */
export interface Refused {
  /** The revision that its documents were planned on. */
  readonly revision: number;
  readonly lacks: Omit<PendingClaim, 'source'>;
  /** After how many seconds the claims lapse; absent for a source that a server runs: it is planned again and again. */
  readonly lapse?: number | undefined;
}

/**
 * Writes down what a source claims and could not have, so that the others refuse to decide against it; or that it lacks
 * nothing. Nothing is written when other documents of the source were applied meanwhile: they are what it claims.
 */
export async function noteClaims(
  engine: Engine,
  account: string,
  source: string,
  { revision, lacks, lapse }: Refused,
): Promise<void> {
  const isClaim = lacks.keys.length + lacks.units.length > 0;
  const before = find(await readClaims(engine.database, account), source);
  // What is known already is not written again, and claims of pushes are renewed by repeating them.
  if (equalJson(noteOf(mergedNote(before, lacks)), noteOf(before ?? {})) && !(isClaim && lapse !== undefined)) return;
  await engine.database.holding(account, async (held) => {
    if (await hasNewerRevision(held, account, source, revision)) return;
    const present = find(await readClaims(held, account), source);
    const claims = noteOf(mergedNote(present, lacks));
    if (!equalJson(claims, noteOf(present ?? {})))
      await putClaims(held, account, { source, claims, at: engine.now(), lapse: isClaim ? lapse : undefined });
    else if (lapse !== undefined) await renewClaims(held, account, { source, lapse });
  });
}

function find({ list }: PendingClaims, source: string): PendingClaim | undefined {
  return list.find((one) => one.source === source);
}

/** What a refused plan would leave for later is not known, so that of the last one stays; so does what was taken by force. */
function mergedNote(before: PendingClaim | undefined, lacks: Omit<PendingClaim, 'source'>): Partial<PendingClaim> {
  const { blocked = before?.blocked ?? [], pending = before?.pending ?? [], keys, units } = lacks;
  const evicted = keys.length + units.length === 0 ? [] : (before?.evicted ?? []);
  return { keys, units, blocked, pending, evicted };
}

/**
 * The claims that a commit of a source leaves: its own are met, and sources from which it took units by force have lost
 * theirs.
 */
export function claimsAfter(
  registry: Registry,
  plan: Plan,
  { list }: PendingClaims,
  at: string,
): readonly ClaimUpdate[] {
  const { source = '' } = plan;
  const own = { source, claims: noteOf(postponedIn(plan)), at };
  const known = list.find((one) => one.source === source);
  const isSame = equalJson(own.claims, noteOf(known ?? {}));
  const evictions = Map.groupBy(evictionsOf(registry, plan), (eviction) => eviction.source);
  const others = [...evictions].map(([other, lost]) => {
    const before = list.find((one) => one.source === other);
    const units = [...(before?.evicted ?? []), ...lost.map(({ unit }) => unit)];
    const evicted = [...new Map(units.map((unit) => [canonicalJson({ ...unit }), unit])).values()];
    return { source: other, claims: noteOf({ ...before, evicted }), at };
  });
  return [...(isSame ? [] : [own]), ...others];
}

/** The lists that hold anything. */
function noteOf({
  keys = [],
  units = [],
  blocked = [],
  pending = [],
  evicted = [],
}: Partial<PendingClaim>): JsonObject {
  const lists = Object.entries({ keys, units, blocked, pending, evicted }).filter(([, list]) => list.length > 0);
  return Object.fromEntries(lists);
}
