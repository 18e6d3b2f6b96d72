import { expect, it } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import type { SavedPlan } from '../../src/db/config/plans.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { sealApplyRequest, unsealApplyRequest } from '../../src/features/config/plans/plan-requests.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import { sealContexts } from '../../src/model/schema/sealing.ts';
import { registry } from '../model/product.ts';
import { document } from '../plan/steps.ts';
import { applyRequest } from './office.ts';

it('the documents of a saved plan have their position in the member that earlier servers read', () => {
  const vault = createVault([new Uint8Array(32).fill(1)]);
  // Nothing else of an engine is used.
  const engine = { registry, planEnvironment: { vault } } as unknown as Engine;
  const documents = [document('Group', 'devs')];
  const request = runToEnd(sealApplyRequest(engine, { account: 'a', id: 'p' }, applyRequest('s', documents)));
  const [, line = ''] = vault.open(String(request['sealed']), sealContexts.plan('a', 'p')).split('\n');
  const { position, ...rest } = documents[0] ?? {};
  expect(JSON.parse(line)).toEqual({ ...rest, place: position });
  const saved = { id: 'p', source: 's', request } as unknown as SavedPlan;
  expect(runToEnd(unsealApplyRequest(engine, 'a', saved)).documents).toEqual(documents);
});

it('sealing the documents of a plan lets other work run between a few hundred documents', () => {
  const vault = createVault([new Uint8Array(32).fill(1)]);
  const engine = { registry, planEnvironment: { vault } } as unknown as Engine;
  const documents = Array.from({ length: 10_000 }, (_, at) => document('Group', `group-${at}`));
  const steps = [...sealApplyRequest(engine, { account: 'a', id: 'p' }, applyRequest('s', documents))];
  // One of 32 documents that are written, and each part that is hashed or encrypted.
  expect(steps.length).toBeGreaterThanOrEqual(Math.floor(10_000 / 32) + 2 * Math.floor(10_000 / 256));
});
