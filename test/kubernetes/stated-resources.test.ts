import { describe, expect, test } from 'vitest';
import { mayChangeDeclaration } from '../../src/features/sources/kubernetes/stated-resources.ts';

const metadata = { name: 'devs', namespace: 'team-a', uid: 'uid-devs', resourceVersion: '7', generation: 1 };
const before = { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata, spec: {} };

describe('E143 a change of a resource', () => {
  test('starts no reconcile when only its status changed', () => {
    const written = { conditions: [{ type: 'Ready', status: 'True' }] };
    const after = { ...before, metadata: { ...metadata, resourceVersion: '8' }, status: written };
    expect(mayChangeDeclaration(before, after)).toBe(false);
  });

  test.each([
    ['spec', { generation: 2 }],
    ['labels', { labels: { team: 'data' } }],
    ['annotations', { annotations: { 'heddle.dev/adopt': 'id:g1' } }],
    ['identity, because it was created again', { uid: 'uid-other' }],
    ['time of deletion', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ])('starts one when it has another %s', (_, changed) => {
    const after = { ...before, metadata: { ...metadata, resourceVersion: '8', ...changed } };
    expect(mayChangeDeclaration(before, after)).toBe(true);
  });
});
