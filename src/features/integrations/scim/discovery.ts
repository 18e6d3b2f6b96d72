import type { JsonObject } from '../../../lib/json.ts';
import { pageSize } from './list.ts';
import { ScimRefusal } from './refusal.ts';
import { describeAttribute, messageUrns, type ResourceType, resourceTypes } from './schema.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0';

/** Returns the capabilities of this server, see RFC 7643, section 5. */
function serviceProviderConfig(base: string): JsonObject {
  return {
    schemas: [`${core}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: pageSize.most },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        ...{ type: 'oauthbearertoken', name: 'OAuth Bearer Token', primary: true },
        description: 'The token of the integration, in the header Authorization',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

function resourceTypeOf(base: string, { name, endpoint, schema, description }: ResourceType): JsonObject {
  return {
    ...{ schemas: [`${core}:ResourceType`], id: name, name, endpoint, description, schema },
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  };
}

function schemaOf(base: string, { name, schema, description, attributes }: ResourceType): JsonObject {
  return {
    ...{ schemas: [`${core}:Schema`], id: schema, name, description },
    attributes: attributes.map(describeAttribute),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema}` },
  };
}

/**
 * Returns the server's description of itself at a path (service provider config, resource types, schemas), `undefined`
 * for an unknown path. Throws for a filter, which these paths do not support.
 */
export function describeServer(base: string, path: readonly string[], isFiltered: boolean): JsonObject | undefined {
  const [what = '', id, ...rest] = path;
  if (rest.length > 0) return undefined;
  if (what === 'ServiceProviderConfig') return id === undefined ? serviceProviderConfig(base) : undefined;
  const all =
    what === 'ResourceTypes'
      ? resourceTypes.map((type) => resourceTypeOf(base, type))
      : what === 'Schemas'
        ? resourceTypes.map((type) => schemaOf(base, type))
        : undefined;
  if (all === undefined) return undefined;
  if (isFiltered) throw new ScimRefusal(403, `${what} cannot be filtered; leave \`filter\` out`);
  if (id !== undefined) return all.find((one) => one['id'] === id);
  return {
    schemas: [messageUrns.list],
    totalResults: all.length,
    startIndex: 1,
    itemsPerPage: all.length,
    Resources: all,
  };
}
