/** Resources that a server makes in a cluster, and why each can be no document. */
const ownResources = {
  Source:
    'it is the resource in which a server shows how a namespace of a Kubernetes cluster fares as a source, and takes requests to it; keep it out of the files that are documents, such as with `exclude`',
  Plan: 'it is the resource in which a server shows a plan that waits for an approval in a Kubernetes cluster; keep it out of the files that are documents',
} as const;

/** Why something that looks like a document is none, when it is a resource that servers make; `undefined`: it is not. */
export function whyNoDocument(kind: string): string | undefined {
  return Object.entries(ownResources).find(([name]) => name === kind)?.[1];
}
