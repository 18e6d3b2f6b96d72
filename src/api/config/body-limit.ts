/** Bodies under `/api/config` carry whole source revisions. */
export const bodyLimit = 64 * 1024 * 1024;
