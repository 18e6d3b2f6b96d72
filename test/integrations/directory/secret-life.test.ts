import { expect, test } from 'vitest';
import { openReading } from './scene.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * Opens a scene whose application has secrets, each given by the first characters of its text and the number of days
 * until it expires.
 */
async function openScene(...secrets: readonly (readonly [hint: string | null, days: number])[]) {
  const scene = await openReading();
  const list = (given: typeof secrets) => {
    const ends = (days: number) => new Date(Date.now() + days * day).toISOString();
    scene.counterpart.secrets = given.map(([hint, days]) => ({ hint, endDateTime: ends(days) }));
  };
  list(secrets);
  scene.directory.putUser('ana');
  const { clock, rows, counterpart } = scene;
  return {
    ...scene,
    list,
    /** Runs a sync as if that many days had passed. */
    async at(days: number): Promise<void> {
      clock.offsetMs = days * day;
      await rows(`update directory_syncs set secret_checked_at = now() - interval '25 hours' returning 1`);
      await scene.sync();
    },
    warned: async () =>
      (await rows("select meta from audit_events where activity_code = 'idp.sync.token.expire' order by id")).map(
        ({ meta }) => meta,
      ),
    asked: () => counterpart.requests.filter((one) => one.startsWith('applications')).length,
  };
}

test('an audit event warns 30 and 7 days before the client secret of a directory expires, once each', async () => {
  const { at, warned, counterpart } = await openScene(['Pq8', 40], ['xyz', 1]);
  const counts: number[] = [];
  for (const days of [0, 5, 11, 12, 20, 34, 35, 39]) {
    await at(days);
    counts.push((await warned()).length);
  }
  expect(counts).toEqual([0, 0, 1, 1, 1, 2, 2, 2]);
  expect(await warned()).toEqual([
    { platform: 'directory', ends: counterpart.secrets[0]?.['endDateTime'] },
    { platform: 'directory', ends: counterpart.secrets[0]?.['endDateTime'] },
  ]);
});

test('of two client secrets with the same hint, the one that expires first is warned of; a replaced one is not', async () => {
  const { at, warned, list } = await openScene(['Pq8', 400], ['Pq8', 6]);
  await at(0);
  expect(await warned()).toHaveLength(1);
  list([['Pq8', 400]]);
  await at(1);
  expect(await warned()).toHaveLength(1);
  list([['Pq8', 29]]);
  await at(2);
  expect(await warned()).toHaveLength(2);
});

test('the expiry of the client secret is requested from the directory once a day', async () => {
  const { sync, asked } = await openScene(['Pq8', 400]);
  await sync();
  await sync();
  expect(asked()).toBe(1);
});

test('a directory application without the right to read itself is reported once', async () => {
  const { at, counterpart, logs, warned, users } = await openScene(['Pq8', 3]);
  counterpart.readsItself = false;
  await at(0);
  await at(1);
  const note =
    'warning: the application may not read itself, so there is no warning before the secret ends; grant it Application.Read.All for that';
  expect((await logs()).filter((line) => line.startsWith('warning'))).toEqual([note]);
  expect(await warned()).toEqual([]);
  expect(await users()).toHaveLength(1);
});

test('the expiry of the client secret is requested again at the next sync when the directory failed to return it', async () => {
  const { sync, counterpart, asked, warned, users } = await openScene(['Pq8', 3]);
  counterpart.next(
    (_, answer) => answer(),
    (_, answer) => answer(),
    { status: 503, code: 'ServiceUnavailable' },
  );
  await sync();
  expect(await users()).toHaveLength(1);
  expect(await warned()).toEqual([]);
  await sync();
  expect(asked()).toBe(2);
  expect(await warned()).toHaveLength(1);
});
