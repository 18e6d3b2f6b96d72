import { runTests, type TestReport, testsIn } from '../../../access/explain/tests.ts';
import type { CommittedRevision, Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import { recordEvents } from '../../../db/logs/events.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { mayChangeTestResults, readAccessImages } from '../../../objects/access-tests.ts';

/** Revisions of an account on which the tests did not run yet. */
interface UntestedRevisions {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly actor: Actor;
}

/**
 * Writes an event when an access test begins to fail, and when it passes again, whatever the cause: enrolments,
 * sign-ins and requests about single objects are not refused because of a test. The server that commits runs the tests.
 * Returns a function that stops this and resolves when every event is written.
 */
export function watchAccessTests(engine: Engine, failed: (error: unknown) => void): () => Promise<void> {
  const waiting = new Map<string, UntestedRevisions>();
  let running: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    for (const [account, stretch] of waiting) {
      waiting.delete(account);
      await recordTestChanges(engine, account, stretch).catch(failed);
    }
  };
  const listener = ({ account, plan, before, after, actor }: CommittedRevision): void => {
    if (!mayChangeTestResults(plan, after)) return;
    waiting.set(account, { before: waiting.get(account)?.before ?? before, after, actor });
    running ??= drain().finally(() => {
      running = undefined;
    });
  };
  engine.listeners.add(listener);
  return async () => {
    engine.listeners.delete(listener);
    await running;
  };
}

async function recordTestChanges(
  engine: Engine,
  account: string,
  { before, after, actor }: UntestedRevisions,
): Promise<void> {
  const step = await readAccessImages(engine, before, after);
  const reports = await runInSlices(runTests(step.after, testsIn(step.after)));
  const known = reports.filter(({ test }) => before.get(test.id) !== undefined);
  const former = await runInSlices(
    runTests(
      step.before,
      known.map(({ test }) => test),
    ),
  );
  const failedBefore = new Set(former.filter(({ outcome }) => outcome === 'fail').map(({ test }) => test.id));
  const events = reports.flatMap((report) => eventsOf(report, failedBefore.has(report.test.id)));
  if (events.length === 0) return;
  const at = engine.now();
  await engine.database.withAccountLock(account, (held) => recordEvents(held, account, { actor, at, events }));
}

function eventsOf({ test, outcome, message }: TestReport, failedBefore: boolean): readonly AuditEvent[] {
  if ((outcome === 'fail') === failedBefore) return [];
  const code = outcome === 'fail' ? 'config.access_test.failed' : 'config.access_test.passed';
  return [{ code, target: test.id, meta: { name: test.name, key: test.key ?? '', message } }];
}
