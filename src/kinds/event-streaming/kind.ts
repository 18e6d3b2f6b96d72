import { defineKind } from '../../model/declare/kind.ts';
import { boolean, mapOf, oneOf, string } from '../../model/schema/field.ts';
import { integrationActivity } from '../shared/directory.ts';
import { originMembers } from '../shared/origin.ts';
import { keyAliases, maxTextLength, platforms, secretFields } from './platforms.ts';
import { checkConfig, resolveKeyAliases } from './rules.ts';

/** Maximum number of settings in a request. No platform has as many. */
const maxSettings = 50;

const spec = {
  platform: oneOf(['datadog', 's3', 'firehose', 'generic_http'], {
    doc: 'The platform. It cannot be changed after the integration is created.',
    access: 'createOnly',
    echoed: true,
    required: true,
  }),
  config: mapOf(string({ doc: 'The value of a setting.', maxLength: maxTextLength }), {
    doc: 'Credentials and settings of the platform. Credentials are shown masked; addresses are stored sealed too, and plans, history and exports omit them. A replace changes only the keys that it names; `null` removes a key.',
    required: true,
    maxItems: maxSettings,
    secrets: secretFields,
    keyAliases,
    merge: true,
  }),
  enabled: boolean({ doc: 'Whether events are sent.', required: true, documentDefault: true }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    EventStreaming: { fields: typeof spec; derived: object };
  }
}

export const eventStreaming = defineKind({
  name: 'EventStreaming',
  doc: 'Sends the events of the account to an external platform.',
  path: '/api/event-streaming',
  // Path that other clients of this API use.
  aliasPaths: ['/api/integrations/event-streaming'],
  ids: 'integer',
  deleteReply: 'object',
  delivers: true,
  module: 'event_streaming',
  document: { allowed: true, shortName: 'hstream' },
  spec,
  computed: originMembers,
  variants: { by: 'platform', member: 'config', of: platforms },
  secretAddresses: ['config.url', 'config.api_url', 'config.site', 'config.endpoint'],
  canonicalize: resolveKeyAliases,
  check: checkConfig,
  activity: integrationActivity,
  activityMeta: ({ spec }) => ({ platform: spec.platform ?? '' }),
  example: {
    platform: 's3',
    config: {
      access_key_id: { valueFrom: { envRef: 'HEDDLE_VALUE_EVENTS_KEY' } },
      secret_access_key: { valueFrom: { envRef: 'HEDDLE_VALUE_EVENTS_SECRET' } },
      bucket_name: 'mesh-events',
      region: 'eu-central-1',
    },
    enabled: true,
  },
});
