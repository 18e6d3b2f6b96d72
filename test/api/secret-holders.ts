import type { Json, JsonObject } from '../../src/lib/json.ts';

/** Creates the text of a secret: a unique text that needs no escaping in JSON, YAML and Base64. */
export type Plant = (name: string) => Json;

/**
 * A kind with secrets: the path of its collection, the paths of all its secret fields, and a body with a secret in each
 * of them.
 */
export interface Holder {
  readonly path: string;
  readonly secretPaths: readonly string[];
  readonly body: (plant: Plant, group: string) => JsonObject;
  /** Change that makes the body invalid. The message of the refusal must not contain the secrets either. */
  readonly fault: JsonObject;
}

const edr = (vendor: string, secretPaths: readonly string[], rest: JsonObject): Holder => ({
  path: `/api/integrations/edr/vendor-${vendor}`,
  secretPaths,
  body: (plant, group) => ({
    ...{ groups: [group], enabled: true, ...rest },
    ...Object.fromEntries(secretPaths.map((name) => [name, plant(`edr${vendor}${name}`)])),
  }),
  fault: { groups: 7 },
});

/** Address that is stored sealed, and shown to users who may read the object. */
export const address = 'https://x.example.com/hook';

const attributes = { last_synced_interval: 24, match_attributes: {} };

/** Every kind with secrets, by name; a second body of a kind has a word after the name. */
export const holders: Readonly<Record<string, Holder>> = {
  EdrVendorA: edr('a', ['api_token'], { ...attributes, api_url: 'https://a.example.com' }),
  EdrVendorB: edr('b', ['secret'], { client_id: 'visible', tenant_id: 't', last_synced_interval: 24 }),
  EdrVendorC: edr('c', ['api_token'], { ...attributes, api_url: 'https://c.example.com' }),
  EdrVendorD: edr('d', ['client_id', 'secret'], { cloud_id: 'eu-1', zta_score_threshold: 7 }),
  DirectoryIntegration: {
    path: '/api/integrations/directory-idp',
    secretPaths: ['client_secret'],
    body: (plant) => ({ client_secret: plant('directory'), client_id: 'c', tenant_id: 't', host: 'd.example.com' }),
    fault: { sync_interval: 1 },
  },
  NotificationChannel: {
    path: '/api/integrations/notifications/channels',
    secretPaths: ['target.headers.*'],
    body: (plant) => ({
      ...{ type: 'webhook', event_types: ['user.join'], enabled: true },
      target: { url: address, headers: { Authorization: plant('header'), 'X-Key': plant('header') } },
    }),
    fault: { event_types: ['user.jion'] },
  },
  EventStreaming: {
    path: '/api/event-streaming',
    secretPaths: ['config.access_key_id', 'config.secret_access_key'],
    body: (plant) => ({
      ...{ platform: 's3', enabled: true },
      config: {
        ...{ access_key_id: plant('access'), secret_access_key: plant('secretaccess'), bucket_name: 'b', region: 'r' },
      },
    }),
    fault: { enabled: 'yes' },
  },
  'EventStreaming in the other spelling': {
    path: '/api/event-streaming',
    secretPaths: ['config.access_key', 'config.secret_key'],
    body: (plant) => ({
      ...{ platform: 'firehose', enabled: true },
      config: { access_key: plant('access'), secret_key: plant('secretaccess'), stream_name: 'n', region: 'r' },
    }),
    fault: { enabled: 'yes' },
  },
  'EventStreaming to datadog': {
    path: '/api/event-streaming',
    secretPaths: ['config.api_key'],
    body: (plant) => ({ platform: 'datadog', enabled: true, config: { api_key: plant('apikey') } }),
    fault: { enabled: 'yes' },
  },
  'EventStreaming by HTTP': {
    path: '/api/event-streaming',
    secretPaths: ['config.headers'],
    body: (plant) => ({
      ...{ platform: 'generic_http', enabled: true },
      config: { url: address, headers: plant('headers') },
    }),
    fault: { enabled: 'yes' },
  },
  ProxyService: {
    path: '/api/reverse-proxies/services',
    secretPaths: ['auth.password_auth.password', 'auth.pin_auth.pin', 'auth.header_auths.value'],
    body: (plant) => ({
      ...{ name: 'app', domain: 'app.proxy.example.com', enabled: true },
      auth: {
        password_auth: { enabled: true, password: plant('password') },
        pin_auth: { enabled: true, pin: plant('pin') },
        header_auths: [{ enabled: true, header: 'X-Api-Key', value: plant('value') }],
      },
    }),
    fault: { targets: [{ target_id: 'nobody' }] },
  },
};
