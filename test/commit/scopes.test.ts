import { expect, it } from 'vitest';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import type { Document } from '../../src/model/document.ts';
import { readTables } from '../db/accounts.ts';
import { allow, document } from '../plan/steps.ts';
import { applyRequest, newOffice } from './office.ts';

const devs = (file: string, line: number): Document => document('Group', 'data-devs', {}, { file, line });

it('a scope is enforced by every server, and an overlap is refused before any write, naming both positions', async () => {
  await using office = await newOffice('postgres');
  const { engine, call } = office;
  const scope = { kinds: ['Group', 'Policy'], keyPrefixes: ['data-'], groups: ['All'] };
  await recordSource(engine, call, { id: 'data', type: 'push', spec: { scope } });
  const apply = async (source: string, documents: readonly Document[]) =>
    await applyDocuments(engine, call, applyRequest(source, documents));
  const own = [devs('data.yaml', 1), allow('data-p', ['data-devs'], ['All'])];
  expect((await apply('data', own)).state).toBe('applied');
  expect((await apply('web', [document('Group', 'web')])).state).toBe('applied');
  const before = await readTables(office.database);
  const wider = await apply('data', [...own, document('DNSZone', 'data-lan', zone), allow('data-q', ['web'], ['All'])]);
  expect(wider).toMatchObject({
    state: 'invalid',
    problems: [
      { code: 'scope_exceeded', kind: 'DNSZone' },
      { code: 'scope_exceeded', key: 'data-q' },
    ],
  });
  const overlapping = await apply('web', [document('Group', 'web'), devs('web.yaml', 9)]);
  expect(overlapping).toMatchObject({
    state: 'invalid',
    problems: [{ code: 'scope_overlap', file: 'web.yaml', line: 9, message: expect.stringContaining('data.yaml:1') }],
  });
  const after = await readTables(office.database);
  // The claims of refused pushes are stored in `sources` and counted in `accounts`, not with the objects.
  const extra = { sources: [], accounts: [] };
  expect({ ...after, ...extra }).toEqual({ ...before, ...extra });
  expect((await office.engine.snapshots.current(office.account)).revision).toBe(5);
  const other = await office.another();
  expect((await other.snapshots.current(office.account)).settingsOf('data').scope).toEqual(scope);
});

const zone = { domain: 'lan.example.com', distribution_groups: ['All'] };
