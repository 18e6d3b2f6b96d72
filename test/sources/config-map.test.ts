import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hour, start, startWatched } from './directory-loop.ts';
import { project, temporaryDirectory } from './mount.ts';

describe('a ConfigMap mount', () => {
  test.each([
    ['kept', undefined],
    ['removed', '1'],
  ])('E124: is delivered after a swap when the old generation is %s', async (_, removes) => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen } = await startWatched(mount);
    await project(mount, '2', { 'a.yaml': 'a2' }, removes === undefined ? {} : { removes });
    await expect.poll(() => seen).toEqual(['a1', 'a2']);
  });

  test('E125: is delivered once after five swaps in a burst, with the last content', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    // Blocks every read after its listing until the burst is over, however long that takes, so that no read finishes
    // earlier.
    let burst: Promise<void> | undefined;
    const { seen } = await startWatched(mount, { read: { onListed: async () => burst } });
    const { promise, resolve } = Promise.withResolvers<void>();
    burst = promise;
    for (const next of [2, 3, 4, 5, 6]) {
      await project(mount, String(next), { 'a.yaml': `a${next}` }, { removes: String(next - 1) });
    }
    resolve();
    await expect.poll(() => seen).toEqual(['a1', 'a6']);
  });

  test('E125: is delivered one further time for all changes during a delivery', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    let active = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const { seen } = start(mount, { pollMs: 5 }, async () => {
      active += 1;
      most = Math.max(most, active);
      await gate.promise;
      active -= 1;
    });
    await expect.poll(() => seen).toEqual(['a1']);
    for (const next of [2, 3, 4]) await project(mount, String(next), { 'a.yaml': `a${next}` });
    gate.resolve();
    await expect.poll(() => seen).toEqual(['a1', 'a4']);
    expect(most).toBe(1);
  });

  test('E126: is not delivered when the same content is projected again', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen, looks } = await startWatched(mount);
    const before = looks();
    await project(mount, '2', { 'a.yaml': 'a1' }, { removes: '1' });
    await expect.poll(() => looks()).toBeGreaterThan(before);
    await project(mount, '3', { 'a.yaml': 'a3' });
    await expect.poll(() => seen).toEqual(['a1', 'a3']);
  });

  test('E127: is unavailable when it vanishes, and its events are noticed again after its return', async () => {
    // Polls fire only when the test advances the timers; everything else runs in real time.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const mount = join(await temporaryDirectory(), 'mount');
    await mkdir(mount);
    await project(mount, '1', { 'a.yaml': 'a1' });
    let looks = 0;
    const onListed = async () => {
      looks += 1;
    };
    const { seen } = start(mount, { read: { onListed } });
    await expect.poll(() => looks).toBe(3);
    await rm(mount, { recursive: true });
    await expect.poll(() => seen).toEqual(['a1', 'unavailable']);
    await mkdir(mount);
    await project(mount, '2', { 'a.yaml': 'a1' });
    vi.advanceTimersByTime(hour);
    await expect.poll(() => seen).toEqual(['a1', 'unavailable', 'a1']);
    await expect.poll(() => looks).toBeGreaterThanOrEqual(6);
    await project(mount, '3', { 'a.yaml': 'a3' });
    await expect.poll(() => seen).toEqual(['a1', 'unavailable', 'a1', 'a3']);
  });

  test('E127: is unavailable, not empty, when its content was removed and only the directory is left', async () => {
    const mount = await temporaryDirectory();
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen } = await startWatched(mount);
    for (const name of ['a.yaml', '..data', '..1']) await rm(join(mount, name), { recursive: true });
    await expect.poll(() => seen).toEqual(['a1', 'unavailable']);
    await project(mount, '2', { 'a.yaml': 'a1' });
    await expect.poll(() => seen).toEqual(['a1', 'unavailable', 'a1']);
  });

  test('E127: is unavailable by an event, without a poll, when its directory is removed', async () => {
    const mount = join(await temporaryDirectory(), 'mount');
    await mkdir(mount);
    await project(mount, '1', { 'a.yaml': 'a1' });
    const { seen } = await startWatched(mount);
    await rm(mount, { recursive: true });
    // No poll happens within the hour, so the removal must be noticed by an event.
    await expect.poll(() => seen).toEqual(['a1', 'unavailable']);
  });
});
