import { expect, it } from 'vitest';
import { openedSpec } from '../setup/opened.ts';
import { newMemoryOrigin, openSampleAccount } from './office-source.ts';

const text = `apiVersion: heddle.dev/v1
kind: EdrVendorB
metadata: {name: vendor-b}
spec: {client_id: c, tenant_id: t, groups: [], last_synced_interval: 24, secret: {valueFrom: {fileRef: edr}}}
`;

/** Opens an office that applies the text repeatedly. `kept` returns the stored secret, opened. */
async function openVendor() {
  const office = await openSampleAccount();
  const kept = async (): Promise<string | undefined> => {
    const [object] = (await office.engine.snapshots.fresh(office.account)).ofKind('EdrVendorB');
    return object === undefined ? undefined : String(openedSpec(office.engine, office.account, object)['secret']);
  };
  // Long enough that the runs are not taken for a hot loop on a slow machine.
  const run = () => office.run([newMemoryOrigin('git', text)], { intervalMs: 500 });
  return { office, kept, run };
}

it('E120 a rotated secret is applied although no document changed', async () => {
  const { office, kept, run } = await openVendor();
  let value = 'the first';
  Object.assign(office.engine.planEnvironment, { valueFrom: () => value });
  const runner = run();
  await expect.poll(kept).toBe('the first');
  const revision = (await office.engine.snapshots.fresh(office.account)).revision;
  value = 'the second';
  await expect.poll(kept).toBe('the second');
  expect((await office.engine.snapshots.fresh(office.account)).revision).toBe(revision + 1);
  expect(JSON.stringify(runner.reports)).not.toMatch(/the first|the second/);
});

it('E120 a secret that is rotated during an apply is applied again', async () => {
  const { office, kept, run } = await openVendor();
  let runner: ReturnType<typeof run> | undefined;
  const valueFrom = () => (runner?.reports.some(({ level }) => level === 'info') ? 'the second' : 'the first');
  Object.assign(office.engine.planEnvironment, { valueFrom });
  runner = run();
  await expect.poll(kept).toBe('the second');
});
