import { readFileSync } from 'node:fs';
import { type CityResponse, Reader } from 'mmdb-lib';
import type { JsonObject } from '../../lib/json.ts';
import { plainAddress } from '../../lib/net/address.ts';

/** Says where a public address is, as far as it knows. */
type Locate = (address: string) => JsonObject;

/** No location is known. */
export const locateNowhere: Locate = () => ({});

/**
 * Opens a database of places in the format of MaxMind (GeoLite2 City or one like it). Throws when the file cannot be read or
 * is none.
 */
export function openPlaces(file: string): Locate {
  let reader: Reader<CityResponse>;
  try {
    reader = new Reader<CityResponse>(readFileSync(file));
  } catch (error) {
    throw new Error(
      `the database of places ${file} cannot be read: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  }
  return (address) => {
    try {
      return placeOf(reader.get(plainAddress(address) ?? address));
    } catch {
      // An address that the database cannot look up, such as one with a zone, is at no known place.
      return {};
    }
  };
}

function placeOf(found: CityResponse | null): JsonObject {
  const country = found?.country?.iso_code;
  const city = found?.city;
  const name = city?.names?.en;
  const id = city?.geoname_id ?? found?.country?.geoname_id;
  return {
    ...(country === undefined ? {} : { country_code: country }),
    ...(name === undefined ? {} : { city_name: name }),
    ...(id === undefined ? {} : { geoname_id: id }),
  };
}
