import { setTimeout as delay } from 'node:timers/promises';
import { runDeliveries } from '../../src/features/integrations/deliveries/dispatcher.ts';
import { createWebhookSigner } from '../../src/features/integrations/notifications/webhook-keys.ts';
import { createTargets } from '../../src/features/integrations/targets.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { parseAllowList } from '../../src/lib/net/public-address.ts';
import { createObject } from '../../src/objects/objects.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { collector } from './memory.ts';
import { startReceiver } from './receiver.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace, type Stand, type Workplace } from './stand.ts';
import { median, time } from './timing.ts';

const credentials = { access_key_id: 'AKIABENCH', secret_access_key: 'secret', region: 'eu-central-1' };

interface Platform {
  readonly what: string;
  readonly platform: string;
  readonly events: number;
  config(url: string): JsonObject;
}

const all = 100_000;

const platforms: readonly Platform[] = [
  {
    ...{ what: 'datadog', platform: 'datadog', events: all },
    config: (url) => ({ api_key: 'key', api_url: `${url}/api/v2/logs` }),
  },
  {
    ...{ what: 's3', platform: 's3', events: all },
    config: (url) => ({ ...credentials, bucket_name: 'events', endpoint: url }),
  },
  {
    ...{ what: 'firehose', platform: 'firehose', events: all },
    config: (url) => ({ ...credentials, stream_name: 'events', endpoint: url }),
  },
  {
    ...{ what: 'generic_http, 100 in a request', platform: 'generic_http', events: all },
    config: (url) => ({ url: `${url}/in`, batch: '100' }),
  },
  {
    ...{ what: 'generic_http, one by one', platform: 'generic_http', events: all / 10 },
    config: (url) => ({ url: `${url}/in` }),
  },
];

/**
 * Streaming of 100,000 events of an account to each platform (10,000 when they are sent one by one), against posting
 * the same bytes. Also the delay of a single event, and memory.
 */
export const streaming: Benchmark = {
  name: 'streaming',
  onlyByName: true,
  async run(stand) {
    const rows: Row[] = [];
    for (const platform of platforms) rows.push(...(await measure(stand, platform)));
    return rows;
  },
};

async function measure(stand: Stand, { what, platform, events, config }: Platform): Promise<readonly Row[]> {
  await using workplace = await openWorkplace({ url: await stand.postgres(), poolSize: 4 });
  await using receiver = await startReceiver();
  const { engine, account } = workplace;
  const actor = { type: 'system', id: 'bench', name: 'bench', granted: 'owner' } as const;
  const kind = engine.registry.get('EventStreaming');
  const spec = { platform, config: config(receiver.url), enabled: true };
  const channel = await createObject(engine, { account, revision: 0, actor }, kind, spec, { strict: false });
  await addEvents(workplace, events);
  const collect = await collector();
  const before = collect();
  const held: number[] = [];
  const stop = deliver(workplace);
  const taken = await time(async () => {
    for (const left of [0.75, 0.5, 0.25, 0]) {
      await reached(workplace, channel.object.id, events * left);
      held.push(collect() - receiver.kept());
    }
  });
  const lags: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const next = receiver.next();
    lags.push(await time(() => addEvents(workplace, 1).then(() => next)));
  }
  await stop();
  const bare = await time(() => receiver.replay());
  process.stderr.write(`${what}: ${Math.round(taken)} ms, bare ${Math.round(bare)} ms\n`);
  const note = `${events.toLocaleString('en')} events`;
  return [
    {
      what: `events streamed to ${what}, against posting the same bytes`,
      ...{ note, figure: events / (taken / 1000), reference: events / (bare / 1000), unit: '/s' },
    },
    { what: `one event at ${what}, after its commit`, note: 'median of 9', figure: median(lags), unit: 'ms' },
    {
      what: `memory while streaming to ${what}, above that before`,
      ...{ note: 'most of four', figure: (Math.max(...held) - before) / 1e6, unit: 'MB' },
      budget: { is: 'at most', value: 64 },
    },
  ];
}

/** Delivers events as a server does, but sends batches for a bucket immediately. */
function deliver({ engine }: Workplace): () => Promise<void> {
  const allow = parseAllowList(['127.0.0.1']);
  if ('wrong' in allow) throw new Error(allow.wrong);
  const outbound = createOutbound({ allow, userAgent: 'Heddle/bench' });
  const open = createTargets({ outbound, signer: createWebhookSigner(engine), now: Date.now, gatherMs: 0 });
  const report = (_: string, message: string) => void process.stderr.write(`${message}\n`);
  const end = runDeliveries({ engine, open, random: Math.random, leaseSeconds: 30, report });
  return () => end().then(() => outbound.close());
}

/** Writes audit events as a commit does, and publishes a notice about them. */
async function addEvents({ engine, account }: Workplace, count: number): Promise<void> {
  await engine.database.asOwner(async (run) => {
    await run(
      `with head as (update accounts set audit_sequence = audit_sequence + $2 where account_id = $1 returning audit_sequence - $2 as last)
      insert into audit_events (account_id, id, revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta)
      select $1, last + n, 1, now(), 'group.add', 'ch8i4ug6lnn4g9hqv7p0', 'Ana Lima', 'ana@example.com', md5(n::text),
        jsonb_build_object('name', 'group ' || n, 'description', md5((n * 7)::text))
      from head, generate_series(1, $2::int) n`,
      [account, count],
    );
  });
  engine.notices.publish({ what: 'deliveries', account });
}

/** Waits until at most `most` events remain after the cursor of the channel. */
async function reached({ engine, account }: Workplace, channel: string, most: number): Promise<void> {
  let behind = Number.POSITIVE_INFINITY;
  while (behind > most) {
    await delay(20);
    await engine.database.asOwner(async (run) => {
      const [row] = await run(
        `select (a.audit_sequence - d.cursor)::int as behind from deliveries d join accounts a on a.account_id = d.account_id
        where d.account_id = $1 and d.channel_id = $2`,
        [account, channel],
      );
      behind = Number(row?.['behind']);
    });
  }
}
