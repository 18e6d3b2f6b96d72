/** Resources of Heddle's API group that a server creates in a cluster. They are not documents. */
const serverResources = {
  Source: 'in which a server shows a namespace of a cluster',
  Plan: 'in which a server shows a plan that waits in a cluster',
} as const;

/**
 * Returns the description of a resource kind that servers create, as the end of a sentence; `undefined` for other
 * kinds.
 */
export function describeServerResource(kind: string): string | undefined {
  return Object.entries(serverResources).find(([name]) => name === kind)?.[1];
}
