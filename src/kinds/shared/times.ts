/** Time value of an event that never happened. */
export const neverTimestamp = '0001-01-01T00:00:00Z';
