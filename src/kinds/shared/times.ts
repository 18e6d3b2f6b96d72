/** The value of a time that never came. */
export const never = '0001-01-01T00:00:00Z';
