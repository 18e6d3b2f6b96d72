import { nearest } from '../../lib/nearest.ts';
import { canonicalDomain } from '../../lib/net/domain.ts';
import { activities, isActivityCode } from '../../model/declare/activities.ts';
import { defineKind } from '../../model/declare/kind.ts';
import {
  boolean,
  mapOf,
  maxEntries,
  maxLengths,
  object,
  oneOf,
  secret,
  setOf,
  string,
} from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';
import { webUrl } from '../shared/web-url.ts';
import { checkTarget, withoutEmptyTarget } from './rules.ts';

/** Registered HTTP authentication schemes, and further ones that notification services use. */
const schemes = [
  ...['Basic', 'Bearer', 'Concealed', 'Digest', 'DPoP', 'GNAP', 'HOBA', 'Mutual', 'Negotiate', 'OAuth', 'PrivateToken'],
  ...['SCRAM-SHA-1', 'SCRAM-SHA-256', 'vapid', 'ApiKey', 'Api-Key', 'GenieKey', 'Key', 'Splunk', 'Token'],
].map((scheme) => scheme.toLowerCase());

/**
 * Returns the authentication scheme at the start of a header value, with a space after it. Returns an empty string when
 * there is none: any other first word may be part of the secret.
 */
function schemeOf(value: string): string {
  const [, scheme = ''] = /^([\w-]{3,20}) +\S/.exec(value) ?? [];
  return schemes.includes(scheme.toLowerCase()) ? `${scheme} ` : '';
}

/** Code of a known activity. */
const activityCode: Format = {
  name: 'event_type',
  pattern: '[0-9a-z._-]+',
  canonical(text) {
    if (isActivityCode(text)) return { value: text };
    const guess = nearest(text, Object.keys(activities));
    const hint =
      guess === undefined ? 'GET /api/integrations/notifications/types lists them' : `did you mean \`${guess}\`?`;
    return { fault: `there is no event type \`${text}\`; ${hint}` };
  },
};

const maxLocalPartLength = 64;

/** One e-mail address without a display name. The domain is put into canonical form. */
const emailAddress: Format = {
  name: 'email',
  pattern: '[^@]+@[^@]+',
  canonical(text) {
    const at = text.lastIndexOf('@');
    const local = text.slice(0, Math.max(at, 0));
    const domain = canonicalDomain(text.slice(at + 1));
    const isLocal =
      /^[^\s@"(),:;<>[\\\]]+$/.test(local) && local.length <= maxLocalPartLength && !/^\.|\.\.|\.$/.test(local);
    if (isLocal && domain !== undefined) return { value: `${local}@${domain}` };
    return { fault: `\`${text}\` is not an e-mail address; write one such as ana@example.com` };
  },
};

/** Maximum number of headers of a request. Each value is sealed, and shown masked. */
const maxHeaders = 100;

const spec = {
  type: oneOf(['email', 'webhook'], { doc: 'How people are notified.', required: true }),
  target: object(
    {
      emails: setOf(string({ doc: 'An e-mail address.', format: emailAddress }), {
        doc: 'Recipients of the e-mail; for the type `email`.',
        maxItems: maxEntries,
        omitEmpty: true,
      }),
      url: secret({
        doc: 'URL to which the message is posted; for the type `webhook`. The URL grants access to everyone who knows it, so it is stored encrypted, and plans, history and exports do not show it.',
        read: 'shown',
        maxLength: maxLengths.text,
        format: webUrl,
        omitEmpty: true,
      }),
      headers: mapOf(secret({ doc: 'The value of a header. It is shown masked.', read: 'masked', visible: schemeOf }), {
        doc: 'Headers of the request; for the type `webhook`. Their values are shown masked, after the authentication scheme: `Bearer ****`.',
        maxItems: maxHeaders,
        omitEmpty: true,
      }),
    },
    { doc: 'Destination of the message. Its members depend on the type.', atomic: true, omitEmpty: true },
  ),
  event_types: setOf(string({ doc: 'The code of an activity.', format: activityCode }), {
    doc: 'The events that the channel sends.',
    required: true,
    maxItems: maxEntries,
  }),
  enabled: boolean({ doc: 'Whether the channel sends notifications.', required: true, documentDefault: true }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    NotificationChannel: { fields: typeof spec; derived: object };
  }
}

export const notificationChannel = defineKind({
  name: 'NotificationChannel',
  doc: 'A channel that notifies people of events of the account. Without a target it is stored, but sends nothing.',
  path: '/api/integrations/notifications/channels',
  idParameter: 'channelId',
  deleteReply: 'object',
  delivers: true,
  module: 'notifications',
  document: { allowed: true, shortName: 'hchan' },
  spec,
  variants: {
    by: 'type',
    member: 'target',
    // No member is required: an empty target counts as no target, and is shown as it was given.
    of: {
      email: { required: [], optional: ['emails'], empty: ['headers'] },
      webhook: { required: [], optional: ['url', 'headers'], empty: ['emails'] },
    },
  },
  secretAddresses: ['target.url'],
  canonicalize: withoutEmptyTarget,
  check: checkTarget,
  activity: {
    create: 'notification.channel.create',
    update: 'notification.channel.update',
    delete: 'notification.channel.delete',
  },
  activityMeta: ({ spec }) => ({ type: spec.type ?? '' }),
  example: {
    type: 'webhook',
    target: {
      url: 'https://hooks.example.com/mesh',
      headers: { Authorization: { valueFrom: { envRef: 'HEDDLE_VALUE_HOOK_AUTHORIZATION' } } },
    },
    event_types: ['user.join', 'peer.user.add', 'peer.login.expire'],
    enabled: true,
  },
});
