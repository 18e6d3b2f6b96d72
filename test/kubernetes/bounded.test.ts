import { expect, test } from 'vitest';
import { kubernetesFaults } from '../../src/model/sources/kubernetes.ts';

test('a namespace rule by labels is refused when namespaces cannot be listed', () => {
  const selector = { matchLabels: { team: 'a' } };
  expect(kubernetesFaults({ name: 'k8s', clusterWide: false, namespaces: [{ selector }] }, [])).toMatchObject([
    { path: '/namespaces/0/selector', message: expect.stringContaining('name them in `names`') },
  ]);
});
