import { mapDigest, networkMapOf, ownChange, type PeerMap, sharedChange } from '../../src/access/netmap/map.ts';
import { touchedMaps } from '../../src/access/netmap/touched.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot } from '../../src/model/state/snapshot.ts';
import { type LargeSizes, largeAccount, onAnotherPort } from '../access/large.ts';
import { registry } from '../kinds/objects.ts';
import type { Benchmark, Row } from './result.ts';
import { inTurns, time } from './timing.ts';

const sizes: LargeSizes = { peers: 5000, groups: 100, groupsOfPeer: 1, policies: 500 };

/**
 * Network maps against reading and writing the account's objects as JSON. That reference took about 20 ms when the
 * budgets were set, so the budgets were 2 s for all maps and 50 ms for the maps that one change affects, including the
 * text that is sent.
 */
export const maps: Benchmark = {
  name: 'maps',
  run: async () => [
    ...(await measure(7, sizes, 'one group each', { all: 100, changed: 2.5 })),
    // The objects are larger, so their reference takes longer. It was 1.6 times as long, and the budgets were 55 and 1.8,
    // before objects were stored without their unset members; the maps take the same time as then.
    ...(await measure(5, { ...sizes, groupsOfPeer: 5 }, outsiders, { all: 90, changed: 2.9 })),
  ],
};

const outsiders = 'five groups each, drawn: no two peers are alike';

interface Budgets {
  readonly all: number;
  readonly changed: number;
}

async function measure(rounds: number, account: LargeSizes, note: string, budgets: Budgets): Promise<readonly Row[]> {
  const objects = largeAccount(account);
  const state = emptySnapshot(registry, 'bench').with({ put: objects, remove: [] });
  const ids = objects.filter(({ kind }) => kind === 'Peer').map(({ id }) => id);
  const reference = () => time(() => JSON.parse(JSON.stringify(objects)));
  const before = compileAccess(state);
  const had = new Map(mapsOf(before, ids));
  const changed = onAnotherPort(objects.slice(-1));
  const next = state.with({ put: changed, remove: [] });
  const change = () => reportChange({ before, had, changed, next });
  const row = (what: string, measured: Pick<Row, 'figure' | 'reference'>, value: number): Row => {
    return { what, note, ...measured, unit: 'ms', budget: { is: 'at most', value } };
  };
  const all = async () => time(() => mapsOf(compileAccess(state), ids));
  return [
    row('maps of 5,000 peers with 500 policies', await inTurns(rounds, all, reference), budgets.all),
    row(
      '… what one changed policy makes of them',
      await inTurns(rounds, async () => time(change), reference),
      budgets.changed,
    ),
  ];
}

function mapsOf(image: AccessImage, ids: readonly string[]): readonly (readonly [string, PeerMap])[] {
  return ids.flatMap((id) => {
    const map = networkMapOf(image, id);
    if (map === undefined) return [];
    mapDigest(map);
    return [[id, map] as const];
  });
}

/** Does all the work of a server between a commit and writing to its streams. Returns the length of the changes. */
function reportChange(given: {
  readonly before: AccessImage;
  readonly had: ReadonlyMap<string, PeerMap>;
  readonly changed: readonly StoredObject[];
  readonly next: AccessImage['state'];
}): number {
  const { before, had, changed, next } = given;
  const ids = changed.map(({ id }) => id);
  const after = updateAccess(before, next, ids);
  let bytes = 0;
  for (const [id, map] of mapsOf(after, touchedMaps(before, after, ids))) {
    const old = had.get(id);
    if (old !== undefined) bytes += ownChange(old, map).length + sharedChange(old.shared, map.shared).length;
  }
  return bytes;
}
