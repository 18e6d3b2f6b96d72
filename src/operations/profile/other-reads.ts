import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, list, object, string } from '../../model/schema/field.ts';

/** Common declarations: these operations exist for clients of other servers of this kind. */
const commonDeclaration = { method: 'GET', profile: 'compatible' } as const;

const none = list(object({}, { doc: '' }), { doc: '' });

const country = {
  country_name: string({ doc: 'Its name in English.' }),
  country_code: string({ doc: 'Two-letter code (ISO 3166-1).' }),
};

const city = {
  city_name: string({ doc: 'Its name in English.' }),
  geoname_id: integer({ doc: 'Its id at GeoNames.' }),
};

/** Read operations outside the specification that clients of other servers of this kind call. */
export const otherReads = {
  countries: defineOperation({
    ...commonDeclaration,
    id: 'listCountries',
    path: '/api/locations/countries',
    access: 'anyone',
    tag: 'locations',
    summary: 'List the countries',
    answer: list(object(country, { doc: 'A country.', schema: 'Country' }), { doc: '' }),
    example: { answer: [{ country_name: 'Germany', country_code: 'DE' }] },
  }),
  cities: defineOperation({
    ...commonDeclaration,
    id: 'listCities',
    path: '/api/locations/countries/{country}/cities',
    access: 'anyone',
    tag: 'locations',
    summary: 'List the cities of a country',
    doc: 'Cities in the location database (`HEDDLE_GEO_DATABASE`).',
    params: { country: string({ doc: 'Two-letter code of the country.' }) },
    answer: list(object(city, { doc: 'A city.', schema: 'City' }), { doc: '' }),
    errors: ['precondition', 'invalid'],
    example: { params: { country: 'DE' }, answer: [{ city_name: 'Berlin', geoname_id: 2950159 }] },
  }),
  identityProviders: defineOperation({
    ...commonDeclaration,
    id: 'listIdentityProviders',
    path: '/api/identity-providers',
    access: { module: 'identity_providers', operation: 'read' },
    summary: 'List the identity providers of the account',
    doc: 'Always empty: identity providers are configured only in the settings of the server.',
    answer: none,
    example: { answer: [] },
  }),
  version: defineOperation({
    ...commonDeclaration,
    id: 'readVersion',
    path: '/api/instance/version',
    access: 'anyone',
    tag: 'instance',
    summary: 'Read the release of the server',
    answer: object(
      {
        management_current_version: string({ doc: 'The release of the server.' }),
        management_update_available: boolean({ doc: 'Always false: the server does not check for newer releases.' }),
      },
      { doc: 'The release of the server.', schema: 'InstanceVersion' },
    ),
    example: { answer: { management_current_version: '0.2.0', management_update_available: false } },
  }),
  googleDirectories: defineOperation({
    ...commonDeclaration,
    id: 'listGoogleDirectories',
    path: '/api/integrations/google-idp',
    access: { module: 'idp', operation: 'read' },
    summary: 'List the integrations with the directory of Google',
    doc: 'Always empty: this integration is not offered.',
    answer: none,
    example: { answer: [] },
  }),
  oktaIntegrations: defineOperation({
    ...commonDeclaration,
    id: 'listOktaIntegrations',
    path: '/api/integrations/okta-scim-idp',
    access: { module: 'idp', operation: 'read' },
    summary: 'List the integrations with Okta',
    doc: 'Always empty: Okta uses `/api/integrations/scim-idp` too.',
    answer: none,
    example: { answer: [] },
  }),
  bypassedPeers: defineOperation({
    ...commonDeclaration,
    id: 'listBypassedPeers',
    path: '/api/peers/edr/bypassed',
    access: { module: 'edr', operation: 'read' },
    summary: 'List the peers that are exempt from endpoint security',
    doc: 'Always empty: there are no exemptions.',
    answer: none,
    example: { answer: [] },
  }),
};
