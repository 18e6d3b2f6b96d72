import { onTestFinished } from 'vitest';
import type { Engine } from '../../../src/commit/engine.ts';
import { approvePlan } from '../../../src/features/config/plans/approvals.ts';
import { applyDocuments } from '../../../src/features/config/plans/documents.ts';
import { noChange, type ProvisioningChange } from '../../../src/features/integrations/provisioning/change.ts';
import { provision } from '../../../src/features/integrations/provisioning/provision.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { Document } from '../../../src/model/document.ts';
import type { Stored } from '../../../src/model/state/stored.ts';
import { createObject, deleteObject, readObject, replaceObject } from '../../../src/objects/objects.ts';
import { applyRequest, newOffice, rowsOf } from '../../commit/office.ts';
import { present } from '../../setup/present.ts';

/** Opens an office with an integration that an identity provider sends its users and groups to. */
export async function openProvisioning(settings: JsonObject = {}) {
  const office = await newOffice('postgres');
  onTestFinished(() => office[Symbol.asyncDispose]());
  const clock = { offsetMs: 0 };
  const { account, call } = office;
  const engine: Engine = {
    ...office.engine,
    now: () => new Date(Date.now() + clock.offsetMs).toISOString(),
  };
  const create = async (kind: string, body: JsonObject): Promise<string> =>
    (await createObject(engine, call, engine.registry.get(kind), body, { strict: true })).object.id;
  const integration = await create('ScimIntegration', { prefix: 'staff', provider: 'generic', ...settings });
  const state = () => engine.snapshots.fresh(account);
  return {
    ...{ engine, account, call, clock, integration, create, state, database: office.database },
    say: (change: Partial<ProvisioningChange>, more: { readonly dryRun?: boolean; readonly by?: string } = {}) =>
      provision(engine, {
        ...{ account, integration: more.by ?? integration, revision: 0 },
        ...(more.dryRun === undefined ? {} : { dryRun: more.dryRun }),
        change: () => ({ ...noChange, keys: 'external', ...change }),
      }),
    async apply(...documents: readonly Document[]): Promise<void> {
      const { state: end } = await applyDocuments(engine, call, applyRequest('docs', documents));
      if (end !== 'applied') throw new Error(`the documents are ${end}`);
    },
    async replace(kind: string, id: string, body: JsonObject): Promise<void> {
      await replaceObject(engine, call, engine.registry.get(kind), id, body, { strict: false });
    },
    async remove(kind: string, id: string): Promise<void> {
      await deleteObject(engine, call, engine.registry.get(kind), id, { strict: false });
    },
    approve: (plan: { readonly id: string; readonly digest: string }) =>
      approvePlan(engine, call, plan.id, plan.digest),
    async user(email: string): Promise<Stored<'User'>> {
      return present((await state()).findByUnique('User', 'email', email));
    },
    async group(name: string): Promise<Stored<'Group'> | undefined> {
      return (await state()).lookUp('Group', 'name', name)[0];
    },
    async members(name: string): Promise<readonly string[]> {
      const now = await state();
      const [group] = now.lookUp('Group', 'name', name);
      return now
        .referrersBy('User', 'auto_groups', group?.id ?? '')
        .map(({ spec }) => spec.email ?? '')
        .sort();
    },
    read: async (kind: string, id: string) => (await readObject(engine, call, engine.registry.get(kind), id)).object,
    rows: (sql: string) => rowsOf(office.database, sql),
  };
}

/** Returns a person. For the name `ana`, the id is `id-ana` and the address is ana@example.com. */
export function person(name: string, more: JsonObject = {}) {
  return { key: `id-${name}`, email: `${name}@example.com`, name, ...more };
}
