/** Which way a list is sorted. */
export const sortOrders = ['asc', 'desc'] as const;

/** One of them. */
export type SortOrder = (typeof sortOrders)[number];

/** How a request to a service of a proxy ended. */
export const requestResults = ['success', 'failed'] as const;

/** One of them. */
export type RequestResult = (typeof requestResults)[number];

/** Where events come from that are delivered: the audit log, or the records of traffic and of reverse proxies. */
export const eventFeeds = ['audit', 'traffic', 'proxy'] as const;

/** One of them. */
export type EventFeed = (typeof eventFeeds)[number];

/** How grave an entry of a synchronisation log is. */
export const syncLogLevels = ['info', 'warning', 'error'] as const;
