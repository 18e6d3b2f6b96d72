import { expect, test } from 'vitest';
import { group, read } from './sample.ts';

/** Returns a resource as `kubectl get -o yaml` prints it. */
const resource = (more = '') => `apiVersion: heddle.dev/v1
kind: Group
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"heddle.dev/v1","kind":"Group","spec":{"name":"${'x'.repeat(100_000)}"}}
    ${'p'.repeat(253)}/${'n'.repeat(63)}: "1"
${more}  creationTimestamp: "2026-11-23T10:00:00Z"
  deletionGracePeriodSeconds: 0
  deletionTimestamp: "2026-11-23T11:00:00Z"
  finalizers: [foregroundDeletion]
  generateName: devs-
  generation: 2
  labels: {team: data}
  managedFields:
    - apiVersion: heddle.dev/v1
      fieldsType: FieldsV1
      fieldsV1: {"f:spec": {"f:name": {}}}
      manager: kubectl
      operation: Apply
      time: "2026-11-23T10:00:00Z"
  name: devs
  namespace: team-a
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: b}]
  resourceVersion: "123"
  selfLink: ""
  uid: 3b6e4bd5-8a1f-4d2f-9f0e-4d4a2f6a3c11
spec:
  name: Developers
status:
  conditions: [{type: Ready, status: "True"}]
`;

const metadata = { name: 'devs', labels: { team: 'data' } };

test('a resource as kubectl prints it is read as a document, without the fields that Kubernetes adds', () => {
  const { documents, problems } = read(resource());
  expect(problems).toEqual([]);
  expect(documents).toMatchObject([{ kind: 'Group', spec: { name: 'Developers' } }]);
  expect(documents[0]?.metadata).toEqual(metadata);
});

test('a List as kubectl prints it is read as documents', () => {
  const item = resource().trimEnd().replaceAll('\n', '\n    ');
  const { documents, problems } = read(
    `apiVersion: v1\nitems:\n  - ${item}\nkind: List\nmetadata:\n  resourceVersion: ""\n`,
  );
  expect(problems).toEqual([]);
  expect(documents.map((document) => document.metadata)).toEqual([metadata]);
});

test('metadata fields that Kubernetes leaves empty are accepted', () => {
  expect(read(group('a\n  creationTimestamp: null\n  namespace: ""')).problems).toEqual([]);
});

test.each([
  ['one', 'developers', ['developers']],
  ['several', 'developers, dev.old', ['developers', 'dev.old']],
  ['none', ' ', []],
])('previous names are read from an annotation: %s', (_, text, previousNames) => {
  const annotations = { 'heddle.dev/previous-names': text };
  const { documents, problems } = read(resource(`    heddle.dev/previous-names: "${text}"\n`));
  expect(problems).toEqual([]);
  expect(documents[0]?.metadata).toEqual({ ...metadata, annotations, previousNames });
});

test('the annotation may repeat what `previousNames` says, in any order', () => {
  const text = group('a\n  previousNames: [c, b]\n  annotations: {heddle.dev/previous-names: "b,c"}');
  expect(read(text).documents[0]?.metadata.previousNames).toEqual(['c', 'b']);
});
