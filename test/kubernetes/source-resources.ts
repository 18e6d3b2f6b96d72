import { type Answer, type Conversation, listOf } from './conversation.ts';
import { cluster } from './scripted-cluster.ts';

export const sources = '/apis/heddle.dev/v1/sources';
export const ownSources = '/apis/heddle.dev/v1/namespaces/team-a/sources';

/** Returns the Source resource as a server creates it. */
export function source(spec = {}) {
  const metadata = { name: 'k8s', namespace: 'team-a', uid: 'uid-source', resourceVersion: '200', generation: 1 };
  return { apiVersion: 'heddle.dev/v1', kind: 'Source', metadata, spec };
}

/** Returns a cluster in which the CRD of Source is installed. */
export function withSources(answer: Answer): Conversation {
  return cluster(['a'], {
    [sources]: { lists: [listOf([], '100')] },
    [ownSources]: { writes: [answer] },
    [`${ownSources}/k8s/status`]: { writes: [{ body: source() }] },
  });
}
