import { expect, onTestFinished, test } from 'vitest';
import { createDueWork, type DueWork, type WorkDefinition } from '../../src/features/integrations/due-work.ts';
import { createObject } from '../../src/objects/objects.ts';
import { currentContext, runInContext } from '../../src/telemetry/context.ts';
import { newOffice } from '../commit/office.ts';

/** Opens an office with due work that runs only when there is a notice, and with the list of its reports. */
async function openWork(parts: Partial<WorkDefinition> = {}, pollMs = 3_600_000) {
  const office = await newOffice('postgres');
  const reports: string[] = [];
  const work = createDueWork(
    { engine: office.engine, leaseSeconds: 30, pollMs, gatherMs: 5, report: (_, message) => reports.push(message) },
    {
      ...{ name: 'the work', atOnce: { inAll: 2, ofAccount: 2 }, notices: ['domains'] },
      poll: async () => undefined,
      ...parts,
    },
  );
  let stop: (() => Promise<void>) | undefined;
  let stopped: Promise<void> | undefined;
  const end = (): Promise<void> => {
    stopped ??= Promise.resolve(stop?.());
    return stopped;
  };
  onTestFinished(async () => {
    await end();
    await office[Symbol.asyncDispose]();
  });
  const run = (): void => {
    stop ??= work.run();
  };
  return { ...office, work, reports, run, end };
}

test('adopt() called while it runs causes another run', async () => {
  const entered: (() => void)[] = [];
  const looks: string[] = [];
  const { work, run } = await openWork({
    createMissingJobs: () => new Promise<void>((resolve) => void entered.push(resolve)),
    poll: async ({ owner }) => void looks.push(owner),
  });
  run();
  await expect.poll(() => entered.length).toBe(1);
  work.requestMissingJobs();
  entered[0]?.();
  await expect.poll(() => entered.length).toBe(2);
  expect(looks).toHaveLength(1);
  entered[1]?.();
  await expect.poll(() => looks).toEqual([work.owner, work.owner]);
});

test('a failed adopt() is reported once and retried by the next check, before due work', async () => {
  const done: string[] = [];
  const { reports, run } = await openWork(
    {
      createMissingJobs: async () => {
        done.push('adopt');
        if (done.length < 3) throw new Error('the store is away');
      },
      poll: async () => void done.push('look'),
    },
    5,
  );
  run();
  await expect.poll(() => done.slice(0, 5)).toEqual(['adopt', 'adopt', 'adopt', 'look', 'look']);
  expect(reports).toEqual(['the work: the store is away; it is tried again']);
});

test('due work is checked after its notices and after changes that it hears of, until it is stopped', async () => {
  const looks: string[] = [];
  const heard: number[] = [];
  const hear = ({ revision }: { readonly revision: number }, { pollWithin }: DueWork): void => {
    heard.push(revision);
    pollWithin(0);
  };
  const { engine, account, call, run, end } = await openWork({
    poll: async ({ owner }) => void looks.push(owner),
    onRevision: hear,
  });
  run();
  await expect.poll(() => looks.length).toBe(1);
  engine.notices.publish({ what: 'domains', account });
  await expect.poll(() => looks.length).toBe(2);
  const group = engine.registry.get('Group');
  const { object } = await createObject(engine, call, group, { name: 'one' }, { strict: true });
  await expect.poll(() => looks.length).toBe(3);
  expect(heard).toEqual([object.updatedRevision]);
  await end();
  await createObject(engine, call, group, { name: 'two' }, { strict: true });
  engine.notices.publish({ what: 'domains', account });
  expect(heard).toEqual([object.updatedRevision]);
});

test('checking for due work does not run in the context of the request that caused it', async () => {
  const requests: (string | undefined)[] = [];
  const { work, account, run } = await openWork({
    poll: async () => void requests.push(currentContext().requestId),
  });
  run();
  await expect.poll(() => requests.length).toBe(1);
  await runInContext({ requestId: 'r1' }, async () => {
    await work.start({ account, lease: 'asked' }, async () => void requests.push(currentContext().requestId));
  });
  await expect.poll(() => requests.length).toBe(3);
  runInContext({ requestId: 'r2' }, () => work.pollWithin(0));
  await expect.poll(() => requests.length).toBe(4);
  expect(requests).toEqual([undefined, 'r1', undefined, undefined]);
});

test('a job started before the run is done, a failing one is reported by its name, and stopping waits for both', async () => {
  const ended: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { work, account, reports, run, end } = await openWork({ nameOf: ({ lease }) => `the job ${lease}` });
  await work.start({ account, lease: 'early' }, async () => void ended.push('early'));
  run();
  await work.start({ account, lease: 'broken' }, async () => {
    throw new Error('no');
  });
  expect(reports).toEqual(['the job broken: no; it is tried again']);
  const late = work.start({ account, lease: 'late' }, async ({ signal }) => {
    await gate.promise;
    ended.push(`late ${signal.aborted}`);
  });
  const stopped = end();
  gate.resolve();
  await stopped;
  expect(ended).toEqual(['early', 'late true']);
  await late;
  expect(work.start({ account, lease: 'after' }, async () => undefined)).toBeUndefined();
});
