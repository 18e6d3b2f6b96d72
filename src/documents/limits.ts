const mebibyte = 1024 * 1024;

/** Limits for the input in one file and in one source revision. Larger input is refused, never truncated. */
export const limits = {
  fileBytes: 4 * mebibyte,
  fileNodes: 1_000_000,
  /** Maximum nesting of maps and lists, including the document's own map. */
  depth: 64,
  revisionBytes: 64 * mebibyte,
  revisionFiles: 50_000,
  revisionDocuments: 50_000,
  /** Maximum number of problems that are reported for one file. More would not help the user. */
  fileProblems: 1000,
} as const;

/**
 * Formats a byte count for people, such as `4 MiB` or `4.01 MiB`. Rounds up, so that one byte above a limit is visible.
 */
export function describeBytes(bytes: number): string {
  return `${Math.ceil((bytes / mebibyte) * 100) / 100} MiB`;
}
