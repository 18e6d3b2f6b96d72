import { sendSample } from '../../features/integrations/deliveries/sample.ts';
import { listPublicKeys, rotateWebhookKey } from '../../features/integrations/notifications/webhook-keys.ts';
import { activities } from '../../model/declare/activities.ts';
import { notifications as operations } from '../../operations/notifications.ts';
import { makeAnswer, sendAnswer } from '../answers/answers.ts';
import { implement } from '../operations/implement.ts';

/** Events that channels can report. The catalogue changes only with the program. */
const catalogue = makeAnswer({ version: 0, body: activities });

/** Catalogue of notifications, sample notifications, and the keys that sign webhooks. */
export const notifications = implement(operations, (engine, { openTarget, anonymousLimit }) => ({
  listTypes: ({ request, reply }) => sendAnswer(request, reply, catalogue),
  testChannel: ({ call, params }) => sendSample(engine, call, params.channelId, openTarget),
  rotateKey: async ({ call }) => ({ account: call.account, keys: await rotateWebhookKey(engine, call) }),
  readKeys: {
    onRequest: anonymousLimit,
    handle: async ({ query: { account } }) => ({ account, keys: await listPublicKeys(engine, account) }),
  },
}));
