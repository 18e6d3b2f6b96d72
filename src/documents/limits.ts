const mebibyte = 1024 * 1024;

/** How much input one file and one source revision may hold; beyond it the input is refused, never cut. */
export const limits = {
  fileBytes: 4 * mebibyte,
  fileNodes: 1_000_000,
  /** Maps and lists inside each other, the document's own map counted. */
  depth: 64,
  revisionBytes: 64 * mebibyte,
  revisionFiles: 50_000,
  revisionDocuments: 50_000,
  /** How many problems of one file are reported; more do not help. */
  fileProblems: 1000,
} as const;

/** A byte count for people, such as `4 MiB` or `4.01 MiB`: rounded up, so that one byte too many shows. */
export function describeBytes(bytes: number): string {
  return `${Math.ceil((bytes / mebibyte) * 100) / 100} MiB`;
}
