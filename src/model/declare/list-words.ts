/** Sort orders of a list. */
export const sortOrders = ['asc', 'desc'] as const;

/** Sort order of a list. */
export type SortOrder = (typeof sortOrders)[number];

/** Results of a request to a proxy service. */
export const requestResults = ['success', 'failed'] as const;

/** Result of a request to a proxy service. */
export type RequestResult = (typeof requestResults)[number];

/** Origins of delivered events: the audit log, or the records of traffic and of reverse proxies. */
export const eventFeeds = ['audit', 'traffic', 'proxy'] as const;

/** Origin of delivered events. */
export type EventFeed = (typeof eventFeeds)[number];

/** Severities of the entries of a synchronization log. */
export const syncLogLevels = ['info', 'warning', 'error'] as const;
