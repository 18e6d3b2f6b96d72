const when = 'it says when the object changed last';

/** Members that a read after a PUT shows with another value than was put, by collection and member, with the reason. */
export const changedByPut: Readonly<Record<string, string>> = {
  '/api/event-streaming updated_at': when,
  '/api/integrations/event-streaming updated_at': when,
  '/api/integrations/edr/vendor-a updated_at': when,
  '/api/integrations/edr/vendor-b updated_at': when,
  '/api/integrations/edr/vendor-c updated_at': when,
  '/api/integrations/edr/vendor-d updated_at': when,
  '/api/integrations/msp/tenants updated_at': when,
  '/api/setup-keys updated_at': when,
  '/api/setup-keys state': 'it follows from `revoked`, which is changed',
  '/api/setup-keys valid': 'it follows from `revoked`, which is changed',
  '/api/users status': 'it follows from `is_blocked`, which is changed',
};

/**
 * Members that a PUT requires in addition to those that were read: secrets, which no response contains. `****` keeps
 * the stored secret.
 */
export const secretsOfPut: Readonly<Record<string, readonly string[]>> = {
  '/api/integrations/edr/vendor-a': ['api_token'],
  '/api/integrations/edr/vendor-b': ['secret'],
  '/api/integrations/edr/vendor-c': ['api_token'],
  '/api/integrations/edr/vendor-d': ['client_id', 'secret'],
};

/**
 * Paths of PUT requests that do not replace an object of an account, with the reason why they are not tested as a round
 * trip.
 */
export const noObjects: Readonly<Record<string, string>> = {
  '/api/config/sources/{name}': 'the settings of a source are put, and how it fares is read',
  '/api/integrations/msp/tenants/{id}/invite': 'an answer to an invitation is read nowhere',
  '/api/users/{userId}/password': 'passwords are read nowhere',
};

/** Kinds with a collection whose objects cannot be replaced, with the reason. */
export const withoutReplace: Readonly<Record<string, string>> = {
  ProxyCluster: 'reverse proxies make them by registering, and they can only be deleted',
  ProxyDomain: 'a domain is proved or not: there is nothing to change',
};
