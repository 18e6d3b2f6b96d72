import { readFileSync } from 'node:fs';
import { type CityResponse, Reader } from 'mmdb-lib';
import type { JsonObject } from '../../lib/json.ts';
import { unmappedAddress } from '../../lib/net/address.ts';

/** Returns the location of a public address, as far as it is known. */
type Locate = (address: string) => JsonObject;

/** Returns no location for any address. */
export const locateNowhere: Locate = () => ({});

/**
 * Opens a location database in the MaxMind format (such as GeoLite2 City). Throws when the file cannot be read or has
 * another format.
 */
export function openLocationDatabase(file: string): Locate {
  let reader: Reader<CityResponse>;
  try {
    reader = new Reader<CityResponse>(readFileSync(file));
  } catch (error) {
    throw new Error(`the location database ${file} cannot be read: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  return (address) => {
    try {
      return locationOf(reader.get(unmappedAddress(address) ?? address));
    } catch {
      // The database cannot look up some addresses, such as those with a zone. Their location is unknown.
      return {};
    }
  };
}

function locationOf(found: CityResponse | null): JsonObject {
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
