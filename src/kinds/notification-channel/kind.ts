import { defineKind } from '../../model/declare/kind.ts';
import { boolean, longest, mapOf, object, oneOf, secret, setOf, string } from '../../model/schema/field.ts';
import { webUrl } from '../shared/web-url.ts';
import { activityCode, emailAddress } from './formats.ts';
import { checkTarget, withoutEmptyTarget } from './rules.ts';
import { schemeOf } from './scheme.ts';

export const notificationChannel = defineKind({
  name: 'NotificationChannel',
  doc: 'Where people are notified of events of the account. Without a target it is stored and notifies nobody.',
  path: '/api/integrations/notifications/channels',
  idParameter: 'channelId',
  deleteReply: 'object',
  delivers: true,
  module: 'notifications',
  document: { allowed: true, shortName: 'hchan' },
  spec: {
    type: oneOf(['email', 'webhook'], { doc: 'How people are notified.', required: true }),
    target: object(
      {
        emails: setOf(string({ doc: 'An e-mail address.', format: emailAddress }), {
          doc: 'Who gets the e-mail; for the type `email`.',
          omitEmpty: true,
        }),
        url: secret({
          doc: 'Where the message is posted; for the type `webhook`. Such an address grants access to everyone who knows it: it is kept sealed, and plans, history and exports do not show it.',
          read: 'shown',
          maxLength: longest.text,
          format: webUrl,
          omitEmpty: true,
        }),
        headers: mapOf(
          secret({ doc: 'The value of a header. It is shown masked.', read: 'masked', visible: schemeOf }),
          {
            doc: 'Headers that are sent along; for the type `webhook`. Their values are shown masked, after the authentication scheme: `Bearer ****`.',
            omitEmpty: true,
          },
        ),
      },
      { doc: 'Whom or what the message goes to. Its members depend on the type.', whole: true },
    ),
    event_types: setOf(string({ doc: 'The code of an activity.', format: activityCode }), {
      doc: 'The events that the channel sends.',
      required: true,
    }),
    enabled: boolean({ doc: 'Whether anything is sent.', required: true, documentDefault: true }),
  },
  canonicalize: withoutEmptyTarget,
  check: checkTarget,
  activity: {
    create: 'notification.channel.create',
    update: 'notification.channel.update',
    delete: 'notification.channel.delete',
  },
  activityMeta: (channel) => ({ type: String(channel.spec['type']) }),
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
