import type { components } from './description.js';

type Schemas = components['schemas'];

/** The type of a channel and the platform of a stream determine the members, both in responses and in requests. */
export function targetOf(
  channel: Schemas['NotificationChannel'] | Schemas['NotificationChannelRequest'],
): string | undefined {
  if (channel.type === 'webhook') return channel.target?.url;
  // @ts-expect-error: nothing is posted for an e-mail.
  channel.target?.url;
  return channel.target?.emails?.join();
}

export function bucketOf(stream: Schemas['EventStreaming']): string {
  switch (stream.platform) {
    case 's3':
      return `${stream.config.bucket_name} in ${stream.config.region}`;
    case 'firehose':
      return stream.config.stream_name;
    case 'datadog':
      return stream.config.site ?? stream.config.api_key;
    default:
      return stream.config.url;
  }
}

/** A response about a stream to S3 can be sent in a PUT; `null` removes a member. */
export function withoutPrefix(stream: Schemas['S3EventStreaming']): Schemas['EventStreamingReplacement'] {
  return { ...stream, config: { ...stream.config, prefix: null } };
}

// @ts-expect-error: a stream to S3 has no address.
const config: Schemas['S3EventStreamingConfigRequest'] = { url: 'https://example.com' };
export const toS3: Schemas['EventStreamingRequest'] = { platform: 's3', enabled: true, config };
