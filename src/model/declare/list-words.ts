/** Which way a list is sorted. */
export const sortOrders = ['asc', 'desc'] as const;

/** One of them. */
export type SortOrder = (typeof sortOrders)[number];

/** How a request to a service of a proxy ended. */
export const requestResults = ['success', 'failed'] as const;

/** One of them. */
export type RequestResult = (typeof requestResults)[number];

/** How grave an entry of a synchronisation log is. */
export const syncLogLevels = ['info', 'warning', 'error'] as const;
