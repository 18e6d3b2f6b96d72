import { onTestFinished } from 'vitest';
import { runDeliveries } from '../../src/features/integrations/deliveries/dispatcher.ts';
import { createWebhookSigner } from '../../src/features/integrations/notifications/webhook-keys.ts';
import { createTargets } from '../../src/features/integrations/targets.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { parseAllowList } from '../../src/lib/net/public-address.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { startReceiver } from '../integrations/receiver.ts';
import { type TestApi, type TestApiOptions, testApi } from './setup.ts';

export const path = '/api/config/deliveries';

/** Starts a server that delivers events, and a receiver. */
export async function openScene(
  openApi: (options: TestApiOptions) => Promise<TestApi> = (options) => testApi('postgres', options),
) {
  const list = parseAllowList(['127.0.0.1']);
  if ('wrong' in list) throw new Error('the address is right');
  const outbound = createOutbound({ allow: list, userAgent: 'Heddle/test' });
  let api: TestApi | undefined;
  const open: ReturnType<typeof createTargets> = (channel) => {
    if (api === undefined) throw new Error('the server is there before its channels');
    return createTargets({ outbound, signer: createWebhookSigner(api.engine), now: Date.now })(channel);
  };
  const made = await openApi({ openTarget: open });
  api = made;
  const { engine, call } = made;
  const delays = { retry: () => 5, pause: () => 3_600_000 };
  const stop = runDeliveries({
    ...{ engine, open, leaseSeconds: 30, pollMs: 50, gatherMs: 5, delays },
    random: () => 0,
    report: () => undefined,
  });
  onTestFinished(async () => {
    await stop();
    await outbound.close();
    await made[Symbol.asyncDispose]();
  });
  const keys = async (): Promise<readonly string[]> => {
    // A restore may replace the first account with another account.
    const [{ id }] = (await call('GET', '/api/accounts')).body;
    const keysPath = `/.well-known/heddle/webhook-keys.json?account=${id}`;
    const { body } = await call('GET', keysPath, undefined, { authorization: '' });
    return body.keys.map(({ key }: { readonly key: string }) => key);
  };
  const receiver = await startReceiver(keys);
  return {
    ...{ api: made, call, receiver, keys, stop },
    channel: async (more: JsonObject = {}): Promise<string> => {
      const target = { url: receiver.url, headers: { Authorization: 'Bearer top-secret' } };
      const body = { type: 'webhook', target, event_types: ['group.add'], enabled: true, ...more };
      return (await call('POST', '/api/integrations/notifications/channels', body)).body.id;
    },
    only: async () => (await call('GET', path)).body[0],
    names: () => receiver.accepted.map(({ body }) => (body['meta'] as JsonObject)['name']),
  };
}
