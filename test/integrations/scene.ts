import { onTestFinished } from 'vitest';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { type DispatcherOptions, runDeliveries } from '../../src/features/integrations/deliveries/dispatcher.ts';
import { createWebhookSigner, listPublicKeys } from '../../src/features/integrations/notifications/webhook-keys.ts';
import { createTargets, type TargetOptions } from '../../src/features/integrations/targets.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { parseAllowList } from '../../src/lib/net/public-address.ts';
import { createObject, deleteObject, replaceObject } from '../../src/objects/objects.ts';
import { createOutbound, type OutboundOptions } from '../../src/outbound/outbound.ts';
import { newOffice, rowsOf } from '../commit/office.ts';

/** A server that delivers events. */
interface Post {
  readonly reports: string[];
  stop(): Promise<void>;
}

/** Opens an office; the servers that it runs deliver to channels at short intervals. */
export async function openPost(name: 'postgres' | 'embedded' = 'postgres') {
  const office = await newOffice(name);
  const { engine, account, call } = office;
  const posts: Post[] = [];
  onTestFinished(async () => {
    for (const post of posts) await post.stop();
    await office[Symbol.asyncDispose]();
  });
  const kind = engine.registry.get('NotificationChannel');
  const groups = engine.registry.get('Group');
  const streams = engine.registry.get('EventStreaming');
  return {
    ...office,
    /** Creates the engine of a second server with the same secret key. */
    async another() {
      const { database } = await office.another();
      return createEngine({ database, planEnvironment: engine.planEnvironment });
    },
    /** Starts a server that delivers events, by default on the first engine. */
    run(own: Engine = engine, options: PostOptions = {}): Post {
      const post = runPost(own, options);
      posts.push(post);
      return post;
    },
    async channel(spec: JsonObject): Promise<string> {
      const body = { type: 'webhook', event_types: ['group.add'], enabled: true, ...spec };
      return (await createObject(engine, call, kind, body, { strict: false })).object.id;
    },
    async changeChannel(id: string, spec: JsonObject): Promise<void> {
      const body = { type: 'webhook', event_types: ['group.add'], enabled: true, ...spec };
      await replaceObject(engine, call, kind, id, body, { strict: false });
    },
    async deleteChannel(id: string): Promise<void> {
      await deleteObject(engine, call, kind, id, { strict: false });
    },
    /** Creates an event stream to a platform. Returns its id. */
    async stream(platform: string, config: JsonObject, enabled = true): Promise<string> {
      return (await createObject(engine, call, streams, { platform, config, enabled }, { strict: false })).object.id;
    },
    async changeStream(id: string, config: JsonObject, enabled = true): Promise<void> {
      await replaceObject(engine, call, streams, id, { platform: 'ignored', config, enabled }, { strict: false });
    },
    async group(...names: readonly string[]): Promise<void> {
      for (const name of names) await createObject(engine, call, groups, { name }, { strict: false });
    },
    keys: async () => (await listPublicKeys(engine, account)).map(({ key }) => key),
    rows: (sql: string) => rowsOf(office.database, sql),
  };
}

/** Options of a server that delivers events. */
interface PostOptions
  extends Pick<TargetOptions, 'mail' | 'publicUrl' | 'timeoutMs' | 'gatherMs'>,
    Pick<OutboundOptions, 'lookup' | 'proxy' | 'authorities'>,
    Pick<DispatcherOptions, 'atOnce'> {
  readonly allow?: readonly string[];
  readonly leaseSeconds?: number;
}

/** Starts a server that delivers events. */
export function runPost(
  engine: Engine,
  { allow = ['127.0.0.1'], leaseSeconds = 30, atOnce, lookup, proxy, authorities, ...given }: PostOptions,
): Post {
  const reports: string[] = [];
  const list = parseAllowList(allow);
  if ('wrong' in list) throw new Error(`${list.wrong} is no address`);
  const outbound = createOutbound({
    ...{ allow: list, userAgent: 'Heddle/test', connectMs: 2000, proxy, authorities },
    ...(lookup === undefined ? {} : { lookup }),
  });
  const now = Date.now;
  const open = createTargets({ gatherMs: 0, ...given, outbound, signer: createWebhookSigner(engine), now });
  const end = runDeliveries({
    ...{ engine, open, leaseSeconds, pollMs: 50, gatherMs: 5 },
    ...(atOnce === undefined ? {} : { atOnce }),
    random: () => 0,
    delays: { retry: (failures, _, askedMs = 0) => Math.max(failures * 10, askedMs), pause: () => 3_600_000 },
    report: (_, message) => reports.push(message),
  });
  let ended: Promise<void> | undefined;
  return {
    reports,
    stop() {
      ended ??= end().then(() => outbound.close());
      return ended;
    },
  };
}
