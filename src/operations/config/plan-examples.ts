const digest = '9f2c1d0e8b7a6f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e8d7c';

const group = { kind: 'Group', key: 'developers' };
const ana = { type: 'user', id: 'ch8i4ug6lnn4g9hqv7p0', name: 'Ana Lima', email: 'ana@example.com' };
const created = { create: 1, update: 0, delete: 0, claims: 0 };

const planExample = {
  ...{ formatVersion: '1.0', source: 'cli', digest, baseRevision: 17, counts: created },
  changes: [
    {
      ...{ action: 'create', ...group, name: 'developers', file: 'groups.yaml', line: 1 },
      ...{ units: [{ path: 'name', after: 'developers' }], risks: [] },
    },
  ],
  ...{ claims: [], guards: [], warnings: [] },
};

const stored = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7m0', state: 'ready', createdBy: ana },
  ...{ createdAt: '2026-01-02T03:04:05.000Z', expiresAt: '2026-01-03T03:04:05.000Z' },
};

const saved = { ...planExample, ...stored };

/** Plans, for examples. */
export const planExamples = {
  digest,
  saved,
  summary: { formatVersion: '1.0', ...stored, source: 'cli', digest, baseRevision: 17, counts: created },
  rollback: { ...saved, rollback: { revision: 17, scope: 'sources', suspends: ['cli'] } },
  approved: {
    ...{ ...saved, state: 'approved', approvedBy: ana, approvedAt: '2026-01-02T03:14:05.000Z' },
    guards: [{ guard: 'deletes', message: 'deletes 9 of 20 owned objects; up to 5 need no approval' }],
  },
  applied: { plan: planExample, revision: 18 },
  patches: [
    { ...group, id: '@Group/developers', action: 'create', patch: [{ op: 'add', path: '/name', value: 'developers' }] },
  ],
  outputs: [{ kind: 'SetupKey', key: 'build-agents', field: 'key', value: 'A616097E-FCF0-48FA-9354-CA4A61142761' }],
  pairs: {
    gained: { pairs: 1, conditional: 0 },
    lost: { pairs: 0, conditional: 0 },
    pairs: [
      {
        from: { kind: 'Peer', key: 'laptop', name: 'Laptop' },
        to: { kind: 'Peer', key: 'database', name: 'Database' },
        gained: 'tcp/5432',
      },
    ],
    more: false,
  },
};
