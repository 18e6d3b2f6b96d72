import type { JsonObject } from '../../../lib/json.ts';

const groupFile = 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: developers\nspec: {}\n';
const digest = '9f2c1d0e8b7a6f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e8d7c';
const planId = 'ch8i4ug6lnn4g9hqv7m0';
const created = { create: 1, update: 0, delete: 0, claims: 0 };
const units = [{ path: 'name', after: 'developers' }];
const place = { file: 'groups.yaml', line: 1 };
const group = { kind: 'Group', key: 'developers', name: 'developers' };

const plan = {
  formatVersion: '1.0',
  source: 'cli',
  digest,
  baseRevision: 17,
  counts: created,
  changes: [{ action: 'create', ...group, ...place, units, risks: [] }],
  claims: [],
  guards: [],
  warnings: [],
};

const actor = { type: 'user', id: 'ch8i4ug6lnn4g9hqv7p0', name: 'Ana Lima', email: 'ana@example.com' };

const standing = {
  ...{ id: planId, state: 'ready', createdBy: actor },
  ...{ createdAt: '2026-01-02T03:04:05.000Z', expiresAt: '2026-01-03T03:04:05.000Z' },
};
const savedPlan = { ...plan, ...standing };

/** Believable bodies of the endpoints under `/api/config`, by what they are. */
export const configExamples = {
  files: { source: 'cli', files: [{ path: 'groups.yaml', text: groupFile }] },
  yaml: groupFile,
  validation: { valid: true, documents: 1, warnings: [] },
  savedPlan,
  applied: { plan, revision: 18 },
  exported: [{ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'developers' }, spec: {} }],
} satisfies JsonObject;
