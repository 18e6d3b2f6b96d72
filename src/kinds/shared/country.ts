import { countryCodes } from '../../model/countries.ts';
import type { Format } from '../../model/schema/format.ts';

const codes: ReadonlySet<string> = new Set(countryCodes);

/** Codes that are commonly mistaken for others. */
const mistaken: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

/** ISO 3166-1 alpha-2 code of a country, in upper case. */
export const countryCode: Format = {
  name: 'country_code',
  pattern: '[A-Za-z]{2}',
  canonical(text) {
    const code = text.toUpperCase();
    if (codes.has(code)) return { value: code };
    const guess = mistaken[code];
    const hint = guess === undefined ? 'write two letters of ISO 3166-1, such as DE' : `did you mean \`${guess}\`?`;
    return { fault: `\`${text}\` is not the code of a country; ${hint}` };
  },
};
