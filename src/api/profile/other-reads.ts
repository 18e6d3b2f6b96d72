import { once } from '../../lib/once.ts';
import { countryCodes } from '../../model/countries.ts';
import { Conflict, InvalidInput } from '../../model/errors.ts';
import { otherReads as operations } from '../../operations/profile/other-reads.ts';
import { implement } from '../operations/implement.ts';

/** Operations that clients of other servers of this kind read, and that the specification does not have. */
export const otherReads = implement(operations, (_engine, { version, cities }) => ({
  countries: () => countries(),
  async cities({ params: { country } }) {
    if (!/^[A-Za-z]{2}$/.test(country))
      throw new InvalidInput(
        `\`${country.slice(0, 20)}\` is not a country; write its two-letter code of ISO 3166-1, such as DE`,
      );
    const found = await cities?.(country.toUpperCase());
    if (found !== undefined) return found;
    throw new Conflict(
      'precondition',
      'no cities are known; the operator must configure a location database with HEDDLE_GEO_DATABASE',
    );
  },
  identityProviders: () => [],
  version: () => ({ management_current_version: version, management_update_available: false }),
  googleDirectories: () => [],
  oktaIntegrations: () => [],
  bypassedPeers: () => [],
}));

/** Country in an answer. */
interface Country {
  readonly country_name: string;
  readonly country_code: string;
}

/** The countries of ISO 3166-1, sorted by name. */
const countries = once((): readonly Country[] => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const list = countryCodes.map((code) => ({ country_name: names.of(code) ?? code, country_code: code }));
  return list.sort((a, b) => a.country_name.localeCompare(b.country_name, 'en'));
});
