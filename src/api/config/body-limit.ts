/** Maximum size of a body under `/api/config`, in bytes. Such a body may contain a whole revision of a source. */
export const bodyLimit = 64 * 1024 * 1024;
