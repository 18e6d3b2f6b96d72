/** Resources that a server makes in a cluster: they are no documents, though of our group. */
const ownResources = {
  Source: 'in which a server shows a namespace of a cluster',
  Plan: 'in which a server shows a plan that waits in a cluster',
} as const;

/** What a resource of our group is that servers make, as the end of a sentence; `undefined`: they make none of this kind. */
export function ownResource(kind: string): string | undefined {
  return Object.entries(ownResources).find(([name]) => name === kind)?.[1];
}
