import { accessibleCount, reuseCounts } from '../access/evaluate/counts.ts';
import type { Access } from '../access/ruleset/access.ts';
import { compileAccessInSteps, updateAccessInSteps } from '../access/ruleset/compile.ts';
import { nothingObserved, type ObservedPeers } from '../access/ruleset/facts.ts';
import { disapprovalOf, type VerdictsOfPeers } from '../access/ruleset/verdicts.ts';
import type { State } from '../model/declare/kind.ts';
import { ingressHosts } from '../model/state/ingress-takeovers.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { runInSlices } from './slices.ts';

/**
 * Source of observations about peers: the facts that they reported, which of them wait for approval, and whose user
 * must sign in again.
 */
export interface ObservedPeersSource {
  /**
   * Returns the observations of an account. Returns a new value only when something in it changed; the facts of a peer
   * stay the same object as long as they are equal. `hosts` are the peers for which it matters whether they are
   * offline.
   */
  of(account: string, hosts?: readonly string[]): Promise<ObservedPeers>;
  /**
   * Returns the verdicts of endpoint security products. Takes no longer in large accounts. Absent: `of` returns the
   * verdicts.
   */
  verdicts?(account: string): Promise<VerdictsOfPeers>;
}

/**
 * Access images (which peer reaches which) of the accounts in use. An image is updated with each change, never compiled
 * again.
 */
export interface AccessImages {
  /** Returns the image of a state with the current observations. */
  of(state: Snapshot): Promise<Access>;
  /** Like `of`, but with the observations that the last request for an image read: no query. */
  soon(state: Snapshot): Promise<Access>;
  /**
   * Like `soon`, for a state that may be committed: a later request for that state then gets this image. Returns
   * `undefined` when no image of the account is cached.
   */
  ahead(state: Snapshot): Promise<Access | undefined>;
  /** Returns a function that counts the peers to which a peer may open a connection. */
  counter(state: Snapshot): Promise<(peer: string) => number>;
  /**
   * Returns a function that gives the reason why endpoint security keeps a peer of a state out, or `undefined` when it
   * does not. Uses the current observations.
   */
  disapprovals(account: string): Promise<(state: State, peer: string) => string | undefined>;
  /** Returns the image of a state from its objects alone, without the facts that peers reported. */
  bare(state: Snapshot): Promise<Access>;
  /**
   * Returns the image after a change from one state to another, with the same observations. The image is not cached.
   */
  after(before: Access, from: Snapshot, to: Snapshot): Promise<Access>;
  /** Sets the source of observations. Until then, nothing is known about any peer. */
  learnFrom(source: ObservedPeersSource): void;
}

/** A cached image with its state. */
interface Kept {
  readonly state: Snapshot;
  readonly image: Access;
}

/** Maximum number of endpoints in all cached images. One endpoint takes a few hundred bytes. */
const capacity = 200_000;

/** Maximum number of accounts whose last observations are remembered. */
const mostAccounts = 1000;

/** Creates the access images. Evicts the image of the least recently used account when there are too many endpoints. */
export function createAccessImages(source: ObservedPeersSource = { of: async () => nothingObserved }): AccessImages {
  const [informed, bare] = [createImageCache(), createImageCache()];
  let observedPeers = source;
  const last = new Map<string, ObservedPeers>();
  const ask = async (state: Snapshot): Promise<ObservedPeers> => {
    const now = await observedPeers.of(state.account, ingressHosts(state));
    last.delete(state.account);
    last.set(state.account, now);
    if (last.size > mostAccounts) last.delete(last.keys().next().value ?? '');
    return now;
  };
  const cacheFor = (now: ObservedPeers) => (now === nothingObserved ? bare : informed);
  return {
    async of(state) {
      const now = await ask(state);
      return await runInSlices(cacheFor(now).of(state, now));
    },
    async soon(state) {
      const now = last.get(state.account) ?? (await ask(state));
      return await runInSlices(cacheFor(now).of(state, now));
    },
    async ahead(state) {
      const now = last.get(state.account);
      return now === undefined ? undefined : await runInSlices(cacheFor(now).ahead(state, now));
    },
    async counter(state) {
      const now = await observedPeers.of(state.account, ingressHosts(state));
      const image = await runInSlices(cacheFor(now).of(state, now));
      return (peer) => accessibleCount(image, peer);
    },
    async disapprovals(account) {
      const verdicts = (await observedPeers.verdicts?.(account)) ?? (await observedPeers.of(account)).verdicts;
      if (verdicts.deciding.size === 0) return () => undefined;
      return (state, peer) => {
        const object = state.get(peer);
        return object === undefined ? undefined : disapprovalOf(object, state, verdicts);
      };
    },
    bare: (state) => runInSlices(bare.of(state, nothingObserved)),
    after: (before, from, to) => runInSlices(updateAccessInSteps(before, to, to.changedSince(from))),
    learnFrom(source) {
      observedPeers = source;
      last.clear();
    },
  };
}

/** Cache of images by account. Keeps the newest state of each account that was requested. */
interface ImageCache {
  of(state: Snapshot, now: ObservedPeers): Generator<undefined, Access>;
  ahead(state: Snapshot, now: ObservedPeers): Generator<undefined, Access | undefined>;
}

function createImageCache(): ImageCache {
  const known = new Map<string, Kept>();
  const coming = new WeakMap<Snapshot, Access>();
  function* of(state: Snapshot, now: ObservedPeers): Generator<undefined, Access> {
    const kept = known.get(state.account);
    const image = yield* make(kept, state, now);
    if (kept?.image === image) return image;
    if (kept !== undefined) reuseCounts(kept.image, image);
    // A caller may have requested a newer state while this image was made. Older states are requested rarely, so the
    // newer image stays.
    const newest = known.get(state.account)?.state.revision ?? 0;
    if (newest > state.revision) return image;
    known.delete(state.account);
    known.set(state.account, { state, image });
    evict(known);
    return image;
  }
  function* make(kept: Kept | undefined, state: Snapshot, now: ObservedPeers): Generator<undefined, Access> {
    if (kept?.state === state && kept.image.observedPeers === now) return kept.image;
    const made = coming.get(state);
    if (made?.observedPeers === now) return made;
    return yield* kept === undefined ? compileAccessInSteps(state, now) : updateImage(kept, state, now);
  }
  return {
    of,
    *ahead(state, now) {
      const kept = known.get(state.account);
      if (kept === undefined) return undefined;
      const image = yield* make(kept, state, now);
      coming.set(state, image);
      return image;
    },
  };
}

function* updateImage({ state, image }: Kept, next: Snapshot, now: ObservedPeers): Generator<undefined, Access> {
  const changed = next === state ? [] : next.changedSince(state);
  return yield* updateAccessInSteps(image, next, [...changed, ...changedPeers(image.observedPeers, now)], now);
}

/** Returns the peers whose observations changed, and the integrations whose decision changed. */
function changedPeers(before: ObservedPeers, after: ObservedPeers): readonly string[] {
  if (before === after) return [];
  return [
    ...otherValues(before.facts, after.facts),
    ...otherValues(before.verdicts.of, after.verdicts.of),
    ...otherValues(before.verdicts.deciding, after.verdicts.deciding),
    ...differing(before.waiting, after.waiting),
    ...differing(before.expired, after.expired),
  ];
}

function otherValues(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): readonly string[] {
  if (before === after) return [];
  return [
    ...[...after].filter(([id, value]) => before.get(id) !== value).map(([id]) => id),
    ...[...before.keys()].filter((id) => !after.has(id)),
  ];
}

function differing(before: ReadonlySet<string>, after: ReadonlySet<string>): readonly string[] {
  if (before === after) return [];
  return [...[...before].filter((id) => !after.has(id)), ...[...after].filter((id) => !before.has(id))];
}

function evict(known: Map<string, Kept>): void {
  let total = 0;
  for (const { image } of known.values()) total += image.endpoints.ids.length;
  for (const [account, { image }] of known) {
    if (total <= capacity || known.size === 1) return;
    known.delete(account);
    total -= image.endpoints.ids.length;
  }
}
