import { expect, test } from 'vitest';
import { renderStatus } from '../../src/cli/render/status.ts';
import { paint } from '../../src/cli/terminal/paint.ts';
import { renderProblems } from '../../src/cli/terminal/problems.ts';
import type { Problem } from '../../src/model/problem.ts';
import type { AccountStatus } from '../../src/operations/config/status.ts';

test('problems are sorted by position and carry object, path and code', () => {
  const problems: readonly Problem[] = [
    {
      code: 'name_missing',
      message: 'second',
      file: 'b.yaml',
      line: 2,
      column: 3,
      kind: 'Group',
      key: 'g',
      path: '/spec/name',
    },
    { code: 'yaml_tab', message: 'first', file: 'a.yaml', line: 10 },
    { code: 'plan_stale', message: 'nowhere' },
  ];
  expect(renderProblems(problems, paint(false))).toBe(`nowhere (plan_stale)
a.yaml:10: first (yaml_tab)
b.yaml:2:3: second (name_missing)
    Group g  /spec/name

3 problems in 2 files.
`);
});

test('a single problem is reported in the singular', () => {
  expect(renderProblems([{ code: 'yaml_tab', message: 'm' }], paint(false))).toBe('m (yaml_tab)\n\n1 problem.\n');
});

test('the status shows the account, then a table of its sources', () => {
  const status: AccountStatus = {
    ...{
      account: 'acc',
      revision: 7,
      version: '1.2.3',
      database: 'embedded',
      objects: { Group: 2, Peer: 0, Policy: 1 },
    },
    sources: [
      {
        ...{ id: 'team', type: 'directory', suspended: false, generation: 1, objects: 3 },
        status: { state: 'applied', lastAppliedRevision: 7, lastAppliedAt: '2026-01-02T03:04:05Z' },
      },
      {
        ...{ id: 'cli', type: 'push', suspended: false, generation: 1, objects: 0 },
        status: { state: 'invalid', message: 'a.yaml:1: wrong' },
      },
    ],
  };
  expect(renderStatus(status, 'http://x', paint(false))).toBe(`server    http://x, Heddle 1.2.3
database  embedded
account   acc, revision 7
objects   2 Group, 1 Policy

SOURCE  TYPE       READY  REASON   OBJECTS  REVISION  APPLIED
team    directory  -      applied  3        7         2026-01-02T03:04:05Z
cli     push       -      invalid  0        -         -
    a.yaml:1: wrong
`);
});

test('the status lists deliveries that need attention', () => {
  const deliveries = [
    { id: 'c1', kind: 'NotificationChannel', key: 'chat', type: 'webhook', state: 'paused', message: 'paused: see' },
    { id: 'c2', kind: 'EventStreaming', type: 's3', state: 'delivering', message: '2 events wait' },
  ] as const;
  const account = { account: 'acc', revision: 1, version: '1.2.3', database: 'embedded' };
  expect(renderStatus({ ...account, objects: {}, sources: [], deliveries }, 'http://x', paint(false))).toMatch(
    /\n\nDeliveries, as `heddle deliveries` says:\n {4}chat \(webhook\): paused: see\n {4}c2 \(s3\): 2 events wait\n$/,
  );
});

test('the status lists endpoint security integrations that need attention', () => {
  const endpointSecurity = [
    { vendor: 'vendor-a', kind: 'EdrVendorA', key: 'laptops', state: 'held', message: 'vendor A knows no devices' },
    { vendor: 'vendor-c', kind: 'EdrVendorC', state: 'failing', message: 'it answers 503' },
  ] as const;
  const account = { account: 'acc', revision: 1, version: '1.2.3', database: 'embedded' };
  expect(renderStatus({ ...account, objects: {}, sources: [], endpointSecurity }, 'http://x', paint(false))).toMatch(
    /\n\nEndpoint security, as `heddle endpoint-security` says:\n {4}vendor-a: vendor A knows no devices\n {4}vendor-c: it answers 503\n$/,
  );
});

test('the status lists directory and SCIM integrations that need attention', () => {
  const provisioning = [
    { id: 'i1', kind: 'DirectoryIntegration', key: 'company', state: 'failing', message: 'no sync since noon: 503' },
    { id: 'i2', kind: 'ScimIntegration', state: 'held', message: 'the plan p1 waits for an approval' },
  ] as const;
  const account = { account: 'acc', revision: 1, version: '1.2.3', database: 'embedded' };
  expect(renderStatus({ ...account, objects: {}, sources: [], provisioning }, 'http://x', paint(false))).toMatch(
    /\n\nUsers and groups of identity providers:\n {4}company \(DirectoryIntegration\): no sync since noon: 503\n {4}i2 \(ScimIntegration\): the plan p1 waits for an approval\n$/,
  );
});

test('the status lists ingress peers that are offline', () => {
  const ingress = [{ id: 'g1', key: 'edge', message: 'the peer edge-1 is offline' }];
  const account = { account: 'acc', revision: 1, version: '1.2.3', database: 'embedded' };
  expect(renderStatus({ ...account, objects: {}, sources: [], ingress }, 'http://x', paint(false))).toMatch(
    /\n\nIngress peers:\n {4}edge: the peer edge-1 is offline\n$/,
  );
});

test('the status of an account without sources states how to add one', () => {
  const status = { account: 'acc', revision: 1, version: '1.2.3', database: 'embedded', objects: {}, sources: [] };
  expect(renderStatus(status, 'http://x', paint(false))).toContain(
    'No sources. `heddle serve --source DIR` watches a directory, `heddle apply` pushes documents.',
  );
});
