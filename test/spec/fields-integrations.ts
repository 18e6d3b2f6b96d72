import { one, type Row, type Rows, sample } from './row.ts';
import {
  answer,
  boolean,
  fields,
  integer,
  list,
  type Members,
  map,
  mayBeAbsent,
  O,
  R,
  text,
  timestamp,
} from './shape.ts';
import type { World } from './world.ts';

const synced = mayBeAbsent(timestamp, 'ruling 50: not before anything is synced');
const connector = mayBeAbsent(text, 'wire facts 16: omitted when unset');

const directory = answer({
  id: integer,
  enabled: boolean,
  group_prefixes: list(text),
  user_group_prefixes: list(text),
  connector_id: connector,
  client_id: text,
  tenant_id: text,
  sync_interval: integer,
  host: text,
  last_synced_at: synced,
});

const scim = answer({
  id: integer,
  enabled: boolean,
  group_prefixes: list(text),
  user_group_prefixes: list(text),
  connector_id: connector,
  prefix: text,
  provider: text,
  auth_token: text,
  last_synced_at: synced,
});

const logEntry = answer({ id: integer, level: text, timestamp, message: text });

const filters: Members = { group_prefixes: O(list(text)), user_group_prefixes: O(list(text)), connector_id: O(text) };
const filterBody = { group_prefixes: ['mesh-'], user_group_prefixes: ['staff-'], connector_id: 'oidc' };

const directoryBody = (world: World) => ({
  ...filterBody,
  client_secret: Buffer.from(world.fresh('secret')).toString('base64'),
  client_id: world.fresh('client'),
  tenant_id: world.fresh('tenant'),
  sync_interval: 600,
  host: 'directory.example.com',
});

const scimBody = (world: World) => ({ ...filterBody, prefix: world.fresh('staff'), provider: 'entra' });

const directoryPath = '/api/integrations/directory-idp';
const scimPath = '/api/integrations/scim-idp';
const newDirectory = async (world: World) => String((await world.send('POST', directoryPath, directoryBody(world))).id);
const newScim = async (world: World) => String((await world.send('POST', scimPath, scimBody(world))).id);

/** Creates a directory and requests a sync, so that its log has an entry. */
const syncedDirectory = async (world: World): Promise<string> => {
  const id = await newDirectory(world);
  await world.send('POST', `${directoryPath}/${id}/sync`);
  return id;
};

const directories: Rows = {
  'POST /api/integrations/directory-idp': {
    request: {
      fields: {
        ...filters,
        client_secret: R(text),
        client_id: R(text),
        tenant_id: R(text),
        sync_interval: O(integer),
        host: R(text),
      },
      samples: [sample(directoryBody)],
    },
    answer: directory,
  },
  'GET /api/integrations/directory-idp': { given: newDirectory, answer: list(directory) },
  'GET /api/integrations/directory-idp/{id}': { at: one('id', newDirectory), answer: directory },
  'PUT /api/integrations/directory-idp/{id}': {
    at: one('id', newDirectory),
    request: {
      fields: {
        enabled: O(boolean),
        ...filters,
        client_secret: O(text),
        client_id: O(text),
        tenant_id: O(text),
        sync_interval: O(integer),
      },
      samples: [
        sample((world) => {
          const { host: _, ...body } = directoryBody(world);
          return { ...body, enabled: false };
        }),
      ],
    },
    answer: directory,
  },
  'DELETE /api/integrations/directory-idp/{id}': { at: one('id', newDirectory), answer: 'empty object' },
  'POST /api/integrations/directory-idp/{id}/sync': { at: one('id', newDirectory), answer: answer({ result: text }) },
  'GET /api/integrations/directory-idp/{id}/logs': { at: one('id', syncedDirectory), answer: list(logEntry) },
  'POST /api/integrations/scim-idp': {
    request: { fields: { ...filters, prefix: R(text), provider: R(text) }, samples: [sample(scimBody)] },
    answer: scim,
  },
  'GET /api/integrations/scim-idp': { given: newScim, answer: list(scim) },
  'GET /api/integrations/scim-idp/{id}': { at: one('id', newScim), answer: scim },
  'PUT /api/integrations/scim-idp/{id}': {
    at: one('id', newScim),
    request: {
      fields: { enabled: O(boolean), ...filters, prefix: O(text) },
      samples: [sample((world) => ({ ...filterBody, prefix: world.fresh('people'), enabled: true }))],
    },
    answer: scim,
  },
  'DELETE /api/integrations/scim-idp/{id}': { at: one('id', newScim), answer: 'empty object' },
  'POST /api/integrations/scim-idp/{id}/token': { at: one('id', newScim), answer: answer({ auth_token: text }) },
  'GET /api/integrations/scim-idp/{id}/logs': {
    at: one('id', newScim),
    answer: list(logEntry),
    mayBeEmpty: 'the walk has no client of SCIM',
  },
};

const channel = answer({
  id: text,
  type: text,
  target: mayBeAbsent(
    answer({
      emails: mayBeAbsent(list(text), 'of channels of the type email'),
      url: mayBeAbsent(text, 'of channels of the type webhook'),
      headers: mayBeAbsent(map(text), 'of channels of the type webhook'),
    }),
    'ruling 3: absent objects are omitted',
  ),
  event_types: list(text),
  enabled: boolean,
});

const channelRequest: Row['request'] = {
  fields: {
    type: R(text),
    target: O(fields({ emails: O(list(text)), url: O(text), headers: O(map(text)) })),
    event_types: R(list(text)),
    enabled: R(boolean),
  },
  samples: [
    sample((world) => ({
      type: 'email',
      target: { emails: [`${world.fresh('ops')}@example.com`] },
      event_types: ['user.join', 'peer.user.add'],
      enabled: true,
    })),
    sample(
      (world) => ({
        type: 'webhook',
        target: { url: `https://${world.fresh('hooks')}.example.com`, headers: { Authorization: 'Bearer x' } },
        event_types: ['peer.login.expire'],
        enabled: false,
      }),
      { '/target/url': 'specification: the target of a webhook is its URL' },
    ),
  ],
};

const channels = '/api/integrations/notifications/channels';
const newChannel = async (world: World) =>
  (await world.send('POST', channels, await channelRequest.samples[1]?.body(world, {}))).id;

const notifications: Rows = {
  'GET /api/integrations/notifications/types': { answer: map(text) },
  'GET /api/integrations/notifications/channels': { given: newChannel, answer: list(channel) },
  'POST /api/integrations/notifications/channels': { request: channelRequest, answer: channel },
  'GET /api/integrations/notifications/channels/{channelId}': { at: one('channelId', newChannel), answer: channel },
  'PUT /api/integrations/notifications/channels/{channelId}': {
    at: one('channelId', newChannel),
    request: channelRequest,
    answer: channel,
  },
  'DELETE /api/integrations/notifications/channels/{channelId}': {
    at: one('channelId', newChannel),
    answer: 'empty object',
  },
};

const stream = answer({
  id: integer,
  account_id: text,
  enabled: boolean,
  platform: text,
  created_at: timestamp,
  updated_at: timestamp,
  config: map(text),
});

const streamRequest: Row['request'] = {
  fields: { platform: R(text), config: R(map(text)), enabled: R(boolean) },
  samples: [sample(() => ({ platform: 'datadog', config: { api_key: 'key', site: 'datadoghq.eu' }, enabled: true }))],
};

const newStream = async (world: World) =>
  String((await world.send('POST', '/api/event-streaming', await streamRequest.samples[0]?.body(world, {}))).id);

const streaming: Rows = {
  'POST /api/event-streaming': { request: streamRequest, answer: stream },
  'GET /api/event-streaming': { given: newStream, answer: list(stream) },
  'GET /api/event-streaming/{id}': { at: one('id', newStream), answer: stream },
  'PUT /api/event-streaming/{id}': {
    at: one('id', newStream),
    request: {
      ...streamRequest,
      fields: { ...streamRequest.fields, platform: { ...R(text), reason: 'required in the body, but ignored' } },
    },
    answer: stream,
  },
  'DELETE /api/event-streaming/{id}': { at: one('id', newStream), answer: 'empty object' },
};

/** Operations on directories, notification channels and event streams. */
export const integrations: Rows = { ...directories, ...notifications, ...streaming };
