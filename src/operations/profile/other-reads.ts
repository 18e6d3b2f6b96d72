import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, list, object, string } from '../../model/schema/field.ts';

/** Common declarations: these operations exist for clients of other servers of this kind. */
const facts = { method: 'GET', profile: 'compatible' } as const;

const none = list(object({}, { doc: '' }), { doc: '' });

const country = {
  country_name: string({ doc: 'Its name in English.' }),
  country_code: string({ doc: 'Its two letters of ISO 3166-1.' }),
};

const city = {
  city_name: string({ doc: 'Its name in English.' }),
  geoname_id: integer({ doc: 'Its number at GeoNames.' }),
};

/** Read operations outside the specification that clients of other servers of this kind call. */
export const otherReads = {
  countries: defineOperation({
    ...facts,
    id: 'listCountries',
    path: '/api/locations/countries',
    access: 'anyone',
    tag: 'locations',
    summary: 'List the countries',
    answer: list(object(country, { doc: 'A country.', schema: 'Country' }), { doc: '' }),
    example: { answer: [{ country_name: 'Germany', country_code: 'DE' }] },
  }),
  cities: defineOperation({
    ...facts,
    id: 'listCities',
    path: '/api/locations/countries/{country}/cities',
    access: 'anyone',
    tag: 'locations',
    summary: 'List the cities of a country',
    doc: 'Those of the database of places (`HEDDLE_GEO_DATABASE`).',
    params: { country: string({ doc: 'The two letters of the country.' }) },
    answer: list(object(city, { doc: 'A city.', schema: 'City' }), { doc: '' }),
    errors: ['precondition', 'invalid'],
    example: { params: { country: 'DE' }, answer: [{ city_name: 'Berlin', geoname_id: 2950159 }] },
  }),
  identityProviders: defineOperation({
    ...facts,
    id: 'listIdentityProviders',
    path: '/api/identity-providers',
    access: { module: 'identity_providers', operation: 'read' },
    summary: 'List the identity providers of the account',
    doc: 'There are none beside those of the settings of the server.',
    answer: none,
    example: { answer: [] },
  }),
  version: defineOperation({
    ...facts,
    id: 'readVersion',
    path: '/api/instance/version',
    access: 'anyone',
    tag: 'instance',
    summary: 'Ask which release runs',
    answer: object(
      {
        management_current_version: string({ doc: 'The release of the server.' }),
        management_update_available: boolean({ doc: 'Always false: the server looks nowhere for newer releases.' }),
      },
      { doc: 'The release of the server.', schema: 'InstanceVersion' },
    ),
    example: { answer: { management_current_version: '0.2.0', management_update_available: false } },
  }),
  googleDirectories: defineOperation({
    ...facts,
    id: 'listGoogleDirectories',
    path: '/api/integrations/google-idp',
    access: { module: 'idp', operation: 'read' },
    summary: 'List the integrations with the directory of Google',
    doc: 'There are none: it is not offered.',
    answer: none,
    example: { answer: [] },
  }),
  oktaIntegrations: defineOperation({
    ...facts,
    id: 'listOktaIntegrations',
    path: '/api/integrations/okta-scim-idp',
    access: { module: 'idp', operation: 'read' },
    summary: 'List the integrations with Okta',
    doc: 'There are none: `/api/integrations/scim-idp` is for Okta too.',
    answer: none,
    example: { answer: [] },
  }),
  bypassedPeers: defineOperation({
    ...facts,
    id: 'listBypassedPeers',
    path: '/api/peers/edr/bypassed',
    access: { module: 'edr', operation: 'read' },
    summary: 'List the peers that endpoint security leaves alone',
    doc: 'There are none: there are no such exceptions.',
    answer: none,
    example: { answer: [] },
  }),
};
