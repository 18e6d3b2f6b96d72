import type {
  EventStreaming,
  EventStreamingRequest,
  ListAuditEventsData,
  ListGroupsData,
  ListNetworkTrafficResponses,
  ListPeersData,
  ListProxyEventsResponses,
  NotificationChannel,
  NotificationChannelRequest,
  PolicyRule,
  PolicyRuleRequest,
  SourceRequest,
} from './sdk/types.gen.js';

/** Lists of peers and groups, and the older pages of audit events. */
export const pages: readonly [ListPeersData['query'], ListGroupsData['query'], ListAuditEventsData['query']] = [
  { limit: 2, after: 'x' },
  { limit: 2, after: 'x' },
  { before: 7 },
];

/** What is on a page of a log, and what is not. */
export function restOf(log: ListNetworkTrafficResponses[200] | ListProxyEventsResponses[200]): number {
  return log.total_records - (log.page - 1) * log.page_size - log.data.length;
}

/** The type says which members there are. */
export function addressOf(source: SourceRequest): string {
  // @ts-expect-error: one that is pushed has no address.
  source.url;
  return source.type === 'git' ? source.url : source.name;
}

/** So do the type of a channel and the platform of a stream, in what is read and in what is sent. */
export function placeOf(channel: NotificationChannel | NotificationChannelRequest): string | undefined {
  if (channel.type === 'webhook') return channel.target?.url;
  // @ts-expect-error: nothing is posted for an e-mail.
  channel.target?.url;
  return channel.target?.emails?.join();
}

export function bucketOf(stream: EventStreaming): string {
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

// @ts-expect-error: a stream to S3 has no address.
export const toS3: EventStreamingRequest = { platform: 's3', enabled: true, config: { url: 'https://example.com' } };

/** What stands inside an object has a name: a rule that was read may be sent. */
export const sameRule = (rule: PolicyRule): PolicyRuleRequest => rule;

// @ts-expect-error: nothing else is a type of a source.
export const unknown: SourceRequest = { name: 'x', type: 'svn' };
// @ts-expect-error: how many is a number.
export const many: ListPeersData['query'] = { limit: 'all' };
