import { eventBody } from '../deliveries/events.ts';
import type { Channel, DeliveryEvent, DeliveryTarget, Verdict } from '../deliveries/target.ts';
import { awsClientOptions, openExchange } from './aws.ts';
import { countWithin } from './limits.ts';
import type { StreamOptions } from './options.ts';

const defaultTimeoutMs = 30_000;

/** Limits of one request, before the records are encoded for transport. */
const limits = { entries: 500, bytes: 4_000_000, entryBytes: 1_000_000 };

/**
 * Creates a target that puts events into a Firehose stream, as records of one line each. Only the records that the
 * stream rejects are sent again.
 */
export function openFirehose({ account, settings = {} }: Channel, options: StreamOptions): DeliveryTarget {
  const { now, timeoutMs = defaultTimeoutMs } = options;
  const recordOf = (event: DeliveryEvent) => Buffer.from(`${JSON.stringify(eventBody(account, event))}\n`);
  return {
    chooseBatchSize: (waiting) => countWithin(sizesOf(waiting, recordOf), limits),
    async deliver(events) {
      const Records = events.map((event) => ({ Data: recordOf(event) }));
      if (Records.length === 1 && (Records[0]?.Data.length ?? 0) > limits.entryBytes)
        return {
          outcome: 'refused',
          reason: `the record is larger than the ${limits.entryBytes} bytes that Firehose accepts`,
        };
      const { FirehoseClient, PutRecordBatchCommand } = await import('@aws-sdk/client-firehose');
      const exchange = openExchange(options.outbound, timeoutMs);
      const client = new FirehoseClient(awsClientOptions('firehose', settings, exchange));
      const DeliveryStreamName = String(settings['stream_name']);
      return exchange.verdictOf(async () => {
        const answer = await client.send(new PutRecordBatchCommand({ DeliveryStreamName, Records }));
        return verdictOfRecords(events, answer.RequestResponses ?? []);
      }, now);
    },
  };
}

function* sizesOf(events: readonly DeliveryEvent[], write: (event: DeliveryEvent) => Buffer): Iterable<number> {
  for (const event of events) yield write(event).length;
}

interface RecordAnswer {
  readonly RecordId?: string | undefined;
  readonly ErrorCode?: string | undefined;
}

/** Returns the verdict for a batch. The answers are in the order of the records. */
function verdictOfRecords(events: readonly DeliveryEvent[], answers: readonly RecordAnswer[]): Verdict {
  const failed = events.filter((_, at) => answers[at]?.RecordId === undefined);
  if (failed.length === 0) return { outcome: 'accepted' };
  const code = answers.find(({ ErrorCode }) => ErrorCode !== undefined)?.ErrorCode ?? 'no reason given';
  const reason = `the stream did not accept ${failed.length} of ${events.length} records (${code.slice(0, 100)})`;
  return { outcome: 'retry', reason, left: failed.map(({ id }) => id) };
}
