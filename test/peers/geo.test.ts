import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createCities } from '../../src/features/peers/cities.ts';
import { locateNowhere, openLocationDatabase } from '../../src/features/peers/geo.ts';
import { temporaryDirectory } from '../setup/database.ts';

type Value = string | number | { readonly [member: string]: Value };

/** Encodes a value in the format of the database: texts, integers and maps. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([Buffer.from([0xc4]), bytes]);
  }
  const members = Object.entries(value).flatMap(([name, item]) => [encode(name), encode(item)]);
  return Buffer.concat([Buffer.from([0xe0 | (members.length / 2)]), ...members]);
}

/** Returns a database with one IPv4 network. */
function database(network: readonly number[], bits: number, location: Value): Buffer {
  const tree = Buffer.alloc(bits * 6);
  for (let node = 0; node < bits; node += 1) {
    const bit = ((network[node >> 3] ?? 0) >> (7 - (node & 7))) & 1;
    const next = node + 1 === bits ? bits + 16 : node + 1;
    for (const side of [0, 1]) tree.writeUIntBE(side === bit ? next : bits, node * 6 + side * 3, 3);
  }
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  const about = { node_count: bits, record_size: 24, ip_version: 4, database_type: 'Test' };
  const version = { binary_format_major_version: 2, binary_format_minor_version: 0, build_epoch: 1 };
  return Buffer.concat([tree, Buffer.alloc(16), encode(location), marker, encode({ ...about, ...version })]);
}

it('a location database returns the location of an address', async () => {
  const file = join(await temporaryDirectory(), 'locations.mmdb');
  const location = {
    city: { geoname_id: 2950159, names: { de: 'Berlin (de)', en: 'Berlin' } },
    country: { iso_code: 'DE', geoname_id: 2921044 },
  };
  writeFileSync(file, database([203, 0, 113], 24, location));
  const locate = openLocationDatabase(file);
  const berlin = { country_code: 'DE', city_name: 'Berlin', geoname_id: 2950159 };
  expect([locate('203.0.113.7'), locate('::ffff:203.0.113.7')]).toEqual([berlin, berlin]);
  expect([locate('198.51.100.1'), locate('2001:db8::1'), locate('nowhere')]).toEqual([{}, {}, {}]);
  expect(locateNowhere('203.0.113.7')).toEqual({});
});

it('a location database lists the cities of a country', async () => {
  const file = join(await temporaryDirectory(), 'locations.mmdb');
  const location = { city: { geoname_id: 2950159, names: { en: 'Berlin' } }, country: { iso_code: 'DE' } };
  writeFileSync(file, database([203, 0, 113], 24, location));
  const cities = createCities(file);
  expect(await cities('DE')).toEqual([{ city_name: 'Berlin', geoname_id: 2950159 }]);
  expect(await cities('FR')).toEqual([]);
});

it('a missing or invalid location database is reported at the start', async () => {
  const file = join(await temporaryDirectory(), 'locations.mmdb');
  expect(() => openLocationDatabase(file)).toThrow(/^the location database .*locations\.mmdb cannot be read/);
  writeFileSync(file, 'not a database');
  expect(() => openLocationDatabase(file)).toThrow('cannot be read');
});
