import { readFile } from 'node:fs/promises';
import { type CityResponse, Reader } from 'mmdb-lib';
import { runNowOrInSlices } from '../../commit/slices.ts';
import { shouldYield } from '../../lib/steps.ts';

/** A city, as answers show it. */
export interface City {
  readonly city_name: string;
  readonly geoname_id: number;
}

/** Returns the cities of a country, given by its two-letter code, sorted by name. */
export type Cities = (country: string) => Promise<readonly City[]>;

type CitiesByCountry = ReadonlyMap<string, readonly City[]>;

/**
 * Creates the list of the cities in a location database (MaxMind format). The first request reads the whole file, which
 * takes seconds for a large one.
 */
export function createCities(file: string): Cities {
  let found: Promise<CitiesByCountry> | undefined;
  return async (country) => {
    found ??= readFile(file).then((bytes) => runNowOrInSlices(citiesIn(bytes)));
    // A failure is not cached: the next request reads the file again.
    found.catch(() => {
      found = undefined;
    });
    return (await found).get(country) ?? [];
  };
}

function* citiesIn(bytes: Buffer): Generator<undefined, CitiesByCountry> {
  const reader = new Reader<CityResponse>(bytes);
  const countries = new Map<string, Map<number, string>>();
  let at = 0;
  for (const address of addressesIn(bytes, reader)) {
    if (shouldYield(at++)) yield undefined;
    const location = address === undefined ? null : reader.get(address);
    const [country, id, name] = [location?.country?.iso_code, location?.city?.geoname_id, location?.city?.names?.en];
    if (country === undefined || id === undefined || name === undefined) continue;
    const known = countries.get(country) ?? new Map<number, string>();
    countries.set(country, known.set(id, name));
  }
  return new Map([...countries].map(([country, cities]) => [country, sorted(cities)]));
}

function sorted(cities: ReadonlyMap<number, string>): readonly City[] {
  const list = [...cities].map(([geoname_id, city_name]) => ({ city_name, geoname_id }));
  return list.sort((a, b) =>
    a.city_name < b.city_name ? -1 : a.city_name > b.city_name ? 1 : a.geoname_id - b.geoname_id,
  );
}

/** Yields one address for each record of the database by walking the search tree. Yields `undefined` at each node. */
function* addressesIn(bytes: Buffer, { metadata }: Reader<CityResponse>): Generator<string | undefined> {
  const { nodeCount, recordSize, ipVersion } = metadata;
  const seen = new Set<number>();
  const nodes = new Uint8Array(nodeCount);
  const bits = ipVersion === 4 ? 32 : 128;
  const waiting: { readonly node: number; readonly address: bigint; readonly depth: number }[] = [
    { node: 0, address: 0n, depth: 0 },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, address, depth } = next;
    yield undefined;
    for (const side of [1, 0] as const) {
      const target = recordAt(bytes, recordSize, node, side);
      const there = address | (BigInt(side) << BigInt(bits - 1 - depth));
      // A part of the tree can be reached by several paths, such as the IPv4 subtree below several IPv6 ranges.
      if (target < nodeCount && nodes[target] === 0) {
        nodes[target] = 1;
        waiting.push({ node: target, address: there, depth: depth + 1 });
      } else if (target > nodeCount && !seen.has(target)) {
        seen.add(target);
        yield formatAddress(there, bits);
      }
    }
  }
}

/** Returns one side of a node in the MaxMind format, where a side has 24, 28 or 32 bits. */
function recordAt(bytes: Buffer, recordSize: number, node: number, side: 0 | 1): number {
  const start = (node * recordSize) / 4;
  if (recordSize === 32) return bytes.readUInt32BE(start + side * 4);
  if (recordSize === 24) return bytes.readUIntBE(start + side * 3, 3);
  const middle = bytes.readUInt8(start + 3);
  const high = side === 0 ? middle >> 4 : middle & 0x0f;
  return high * 2 ** 24 + bytes.readUIntBE(start + side * 4, 3);
}

function formatAddress(address: bigint, bits: number): string {
  const part = (at: number, size: number) =>
    Number((address >> BigInt(bits - size * (at + 1))) & ((1n << BigInt(size)) - 1n));
  if (bits === 32) return [0, 1, 2, 3].map((at) => part(at, 8)).join('.');
  return [0, 1, 2, 3, 4, 5, 6, 7].map((at) => part(at, 16).toString(16)).join(':');
}
