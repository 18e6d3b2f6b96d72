import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { eventBody } from '../deliveries/events.ts';
import type { Channel, DeliveryEvent, DeliveryTarget } from '../deliveries/target.ts';
import { awsClientOptions, openExchange } from './aws.ts';
import { countWithin } from './limits.ts';
import type { StreamOptions } from './options.ts';

const compress = promisify(gzip);

const defaultTimeoutMs = 60_000;
const defaultGatherMs = 60_000;

/** Limits of one S3 object, before compression. */
const limits = { entries: 10_000, bytes: 5_000_000, entryBytes: 5_000_000 };

/**
 * Creates a target that puts events into a bucket, one minute or 5 MB of events per object. The name of an object
 * contains the numbers of its first and last event, and a batch is retried unchanged, so a retry overwrites the object
 * with the same content.
 */
export function openS3(channel: Channel, options: StreamOptions): DeliveryTarget {
  const { account, settings = {} } = channel;
  const { now, timeoutMs = defaultTimeoutMs, gatherMs = defaultGatherMs } = options;
  const lineOf = (event: DeliveryEvent) => `${JSON.stringify(eventBody(account, event))}\n`;
  return {
    window: { events: limits.entries, bytes: limits.bytes },
    repeatsBatches: true,
    chooseBatchSize(waiting, isAll) {
      const count = countWithin(sizesOf(waiting, lineOf), limits);
      const age = now() - Date.parse(waiting[0]?.at ?? '');
      const isDue = !isAll || count < waiting.length || count >= limits.entries || !(age < gatherMs);
      return isDue ? count : { afterMs: gatherMs - age };
    },
    async deliver(events) {
      const Body = await compress(events.map(lineOf).join(''));
      const Key = keyOf(channel, events);
      const { S3Client, PutObjectCommand } = await import('@aws-sdk/client-s3');
      const exchange = openExchange(options.outbound, timeoutMs);
      const client = new S3Client({
        ...awsClientOptions('s3', settings, exchange),
        // Services other than AWS do not resolve the name of a bucket as a part of their host name.
        forcePathStyle: settings['endpoint'] !== undefined,
        ...{ useArnRegion: false, disableS3ExpressSessionAuth: true, sigv4aSigningRegionSet: [] },
        // Buckets with a retention period for objects require a checksum.
        ...{ requestChecksumCalculation: 'WHEN_SUPPORTED', responseChecksumValidation: 'WHEN_REQUIRED' },
      });
      const Bucket = String(settings['bucket_name']);
      const ContentType = 'application/x-ndjson';
      return exchange.verdictOf(async () => {
        await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType, ContentEncoding: 'gzip' }));
        return { outcome: 'accepted' };
      }, now);
    },
  };
}

function* sizesOf(events: readonly DeliveryEvent[], write: (event: DeliveryEvent) => string): Iterable<number> {
  for (const event of events) yield Buffer.byteLength(write(event));
}

/** Returns the key of an object. Keys sort in the order of the events. */
function keyOf({ account, id, settings = {} }: Channel, events: readonly DeliveryEvent[]): string {
  const [first, last] = [events[0], events.at(-1)];
  const [day = '', time = ''] = (first?.at ?? '').split('T');
  const name = `${numberText(first?.id)}-${numberText(last?.id)}.ndjson.gz`;
  const prefix = String(settings['prefix'] ?? '').split('/');
  const parts = [...prefix, account, id, first?.feed ?? '', ...day.split('-'), time.slice(0, 2), name];
  return parts.filter((part) => part !== '').join('/');
}

function numberText(id = 0): string {
  return String(id).padStart(12, '0');
}
