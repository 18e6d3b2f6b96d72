import { accessibleCount, reuseCounts } from '../access/evaluate/counts.ts';
import type { AccessImage } from '../access/ruleset/access.ts';
import { compileAccessInSteps, updateAccessInSteps } from '../access/ruleset/compile.ts';
import { noObservations, type ObservedPeers } from '../access/ruleset/facts.ts';
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
  read(account: string, hosts?: readonly string[]): Promise<ObservedPeers>;
  /**
   * Returns the verdicts of endpoint security products. Takes no longer in large accounts. Absent: `read` returns the
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
  current(state: Snapshot): Promise<AccessImage>;
  /** Like `current`, but with the observations that the last request for an image read: no query. */
  withLastObservations(state: Snapshot): Promise<AccessImage>;
  /**
   * Like `withLastObservations`, for a state that may be committed: a later request for that state then gets this
   * image. Returns `undefined` when no image of the account is cached.
   */
  prepare(state: Snapshot): Promise<AccessImage | undefined>;
  /** Returns a function that counts the peers to which a peer may open a connection. */
  createPeerCounter(state: Snapshot): Promise<(peer: string) => number>;
  /**
   * Returns a function that gives the reason why endpoint security keeps a peer of a state out, or `undefined` when it
   * does not. Uses the current observations.
   */
  readDisapprovals(account: string): Promise<(state: State, peer: string) => string | undefined>;
  /** Returns the image of a state from its objects alone, without the facts that peers reported. */
  withoutObservations(state: Snapshot): Promise<AccessImage>;
  /**
   * Returns the image after a change from one state to another, with the same observations. The image is not cached.
   */
  afterChange(before: AccessImage, from: Snapshot, to: Snapshot): Promise<AccessImage>;
  /** Sets the source of observations. Until then, nothing is known about any peer. */
  setObservationSource(source: ObservedPeersSource): void;
}

/** A cached image with its state. */
interface CachedImage {
  readonly state: Snapshot;
  readonly image: AccessImage;
}

/** Maximum number of endpoints in all cached images. One endpoint takes a few hundred bytes. */
const maxCachedEndpoints = 200_000;

/** Maximum number of accounts whose last observations are remembered. */
const maxAccounts = 1000;

/** Creates the access images. Evicts the image of the least recently used account when there are too many endpoints. */
export function createAccessImages(source: ObservedPeersSource = { read: async () => noObservations }): AccessImages {
  const [informed, bare] = [createImageCache(), createImageCache()];
  let observedPeers = source;
  const last = new Map<string, ObservedPeers>();
  const ask = async (state: Snapshot): Promise<ObservedPeers> => {
    const now = await observedPeers.read(state.account, ingressHosts(state));
    last.delete(state.account);
    last.set(state.account, now);
    if (last.size > maxAccounts) last.delete(last.keys().next().value ?? '');
    return now;
  };
  const cacheFor = (now: ObservedPeers) => (now === noObservations ? bare : informed);
  return {
    async current(state) {
      const now = await ask(state);
      return await runInSlices(cacheFor(now).get(state, now));
    },
    async withLastObservations(state) {
      const now = last.get(state.account) ?? (await ask(state));
      return await runInSlices(cacheFor(now).get(state, now));
    },
    async prepare(state) {
      const now = last.get(state.account);
      return now === undefined ? undefined : await runInSlices(cacheFor(now).prepare(state, now));
    },
    async createPeerCounter(state) {
      const now = await observedPeers.read(state.account, ingressHosts(state));
      const image = await runInSlices(cacheFor(now).get(state, now));
      return (peer) => accessibleCount(image, peer);
    },
    async readDisapprovals(account) {
      const verdicts = (await observedPeers.verdicts?.(account)) ?? (await observedPeers.read(account)).verdicts;
      if (verdicts.deciding.size === 0) return () => undefined;
      return (state, peer) => {
        const object = state.get(peer);
        return object === undefined ? undefined : disapprovalOf(object, state, verdicts);
      };
    },
    withoutObservations: (state) => runInSlices(bare.get(state, noObservations)),
    afterChange: (before, from, to) => runInSlices(updateAccessInSteps(before, to, to.changedSince(from))),
    setObservationSource(source) {
      observedPeers = source;
      last.clear();
    },
  };
}

/** Cache of images by account. Keeps the newest state of each account that was requested. */
interface ImageCache {
  get(state: Snapshot, now: ObservedPeers): Generator<undefined, AccessImage>;
  prepare(state: Snapshot, now: ObservedPeers): Generator<undefined, AccessImage | undefined>;
}

function createImageCache(): ImageCache {
  const known = new Map<string, CachedImage>();
  const coming = new WeakMap<Snapshot, AccessImage>();
  function* of(state: Snapshot, now: ObservedPeers): Generator<undefined, AccessImage> {
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
  function* make(
    kept: CachedImage | undefined,
    state: Snapshot,
    now: ObservedPeers,
  ): Generator<undefined, AccessImage> {
    if (kept?.state === state && kept.image.observedPeers === now) return kept.image;
    const made = coming.get(state);
    if (made?.observedPeers === now) return made;
    return yield* kept === undefined ? compileAccessInSteps(state, now) : updateImage(kept, state, now);
  }
  return {
    get: of,
    *prepare(state, now) {
      const kept = known.get(state.account);
      if (kept === undefined) return undefined;
      const image = yield* make(kept, state, now);
      coming.set(state, image);
      return image;
    },
  };
}

function* updateImage(
  { state, image }: CachedImage,
  next: Snapshot,
  now: ObservedPeers,
): Generator<undefined, AccessImage> {
  const changed = next === state ? [] : next.changedSince(state);
  return yield* updateAccessInSteps(image, next, [...changed, ...changedPeers(image.observedPeers, now)], now);
}

/** Returns the peers whose observations changed, and the integrations whose decision changed. */
function changedPeers(before: ObservedPeers, after: ObservedPeers): readonly string[] {
  if (before === after) return [];
  return [
    ...changedKeys(before.facts, after.facts),
    ...changedKeys(before.verdicts.problemsByPeer, after.verdicts.problemsByPeer),
    ...changedKeys(before.verdicts.deciding, after.verdicts.deciding),
    ...changedMembers(before.waiting, after.waiting),
    ...changedMembers(before.expired, after.expired),
  ];
}

function changedKeys(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): readonly string[] {
  if (before === after) return [];
  return [
    ...[...after].filter(([id, value]) => before.get(id) !== value).map(([id]) => id),
    ...[...before.keys()].filter((id) => !after.has(id)),
  ];
}

function changedMembers(before: ReadonlySet<string>, after: ReadonlySet<string>): readonly string[] {
  if (before === after) return [];
  return [...[...before].filter((id) => !after.has(id)), ...[...after].filter((id) => !before.has(id))];
}

function evict(known: Map<string, CachedImage>): void {
  let total = 0;
  for (const { image } of known.values()) total += image.endpoints.ids.length;
  for (const [account, { image }] of known) {
    if (total <= maxCachedEndpoints || known.size === 1) return;
    known.delete(account);
    total -= image.endpoints.ids.length;
  }
}
