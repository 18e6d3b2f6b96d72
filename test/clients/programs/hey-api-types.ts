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

/** Queries for pages of peers and groups, and for older audit events. */
export const pages: readonly [ListPeersData['query'], ListGroupsData['query'], ListAuditEventsData['query']] = [
  { limit: 2, after: 'x' },
  { limit: 2, after: 'x' },
  { before: 7 },
];

/** Returns the number of records that follow this page of a log. */
export function restOf(log: ListNetworkTrafficResponses[200] | ListProxyEventsResponses[200]): number {
  return log.total_records - (log.page - 1) * log.page_size - log.data.length;
}

/** The type of a source determines its members. */
export function addressOf(source: SourceRequest): string {
  // @ts-expect-error: one that is pushed has no address.
  source.url;
  return source.type === 'git' ? source.url : source.name;
}

/** The type of a channel and the platform of a stream also determine the members, both in responses and in requests. */
export function targetOf(channel: NotificationChannel | NotificationChannelRequest): string | undefined {
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

/** The parts of an object have named types: a rule from a response can be sent in a request. */
export const sameRule = (rule: PolicyRule): PolicyRuleRequest => rule;

// @ts-expect-error: nothing else is a type of a source.
export const unknown: SourceRequest = { name: 'x', type: 'svn' };
// @ts-expect-error: how many is a number.
export const many: ListPeersData['query'] = { limit: 'all' };
