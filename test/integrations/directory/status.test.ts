import { expect, test } from 'vitest';
import { troubledProviders } from '../../../src/features/integrations/directory/status.ts';
import { integrationSpec, openReading } from './scene.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * Opens a scene with three users in the directory, and `troubles`, which returns the reported status of the
 * integration.
 */
async function openScene() {
  const scene = await openReading();
  for (const id of ['ana', 'ben', 'cem']) scene.directory.putUser(id);
  const troubles = async () =>
    (await troubledProviders(scene.engine, scene.call)).map(({ state, message }) => `${state}: ${message}`);
  return { ...scene, troubles };
}

test('the status reports since when syncs fail and why, until one succeeds or the integration is disabled', async () => {
  const { counterpart, integration, engine, call, sync, status, troubles, change } = await openScene();
  expect(await troubles()).toEqual([]);
  counterpart.next({ status: 503, code: 'ServiceUnavailable' });
  await sync();
  const before = await troubledProviders(engine, call);
  expect(before).toEqual([
    {
      ...{ id: integration, kind: 'DirectoryIntegration', state: 'failing' },
      message: expect.stringMatching(/^no sync has finished yet: .*503/),
    },
  ]);
  await sync();
  expect(await troubles()).toEqual([]);
  const ended = (await status())?.['ended_at'] as Date;
  counterpart.next({ status: 503, code: 'ServiceUnavailable' });
  await sync();
  expect(await troubles()).toEqual([
    expect.stringMatching(new RegExp(`^failing: no sync since ${ended.toISOString()}: .*503`)),
  ]);
  await change({ ...integrationSpec(counterpart), enabled: false });
  expect(await troubles()).toEqual([]);
});

test('the status names the plan that waits for an approval', async () => {
  const { directory, counterpart, sync, rows, troubles } = await openScene();
  await sync();
  directory.clear();
  counterpart.expireLinks();
  await sync();
  const [{ id } = {}] = await rows("select id from plans where state = 'needs_approval'");
  expect(await troubles()).toEqual([
    `held: 0 users and 0 groups were read, and nothing was changed: the plan ${id} waits for an approval, because it keeps out 3 of 3 users: the identity provider no longer lists any`,
  ]);
  for (const user of ['ana', 'ben', 'cem']) directory.putUser(user);
  await sync();
  expect(await troubles()).toEqual([]);
});

test('the status warns of a client secret that expires within 30 days, until it is replaced', async () => {
  const { counterpart, clock, sync, troubles, change } = await openScene();
  const ends = new Date(Date.now() + 40 * day).toISOString();
  counterpart.secrets = [{ hint: counterpart.secret.slice(0, 3), endDateTime: ends }];
  await sync();
  expect(await troubles()).toEqual([]);
  clock.offsetMs = 11 * day;
  const advice = 'make a new one at the directory, and write it into client_secret';
  expect(await troubles()).toEqual([`expiring: the client secret ends on ${ends}: ${advice}`]);
  clock.offsetMs = 41 * day;
  expect(await troubles()).toEqual([`expiring: the client secret ended on ${ends}: ${advice}`]);
  await change(integrationSpec({ secret: 'another-one' }));
  expect(await troubles()).toEqual([]);
});
