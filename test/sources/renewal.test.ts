import { describe, expect, test } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { findEntries } from '../../src/db/accounts/find-entries.ts';
import { findUnreadOutputs } from '../../src/features/config/plans/outputs.ts';
import { enrolPeer } from '../../src/features/peers/enrolment/enrolment.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import { present } from '../setup/present.ts';
import { newMemoryOrigin, openSampleAccount } from './office-source.ts';

const day = 86_400_000;

function setupKey(spec: JsonObject = {}, renewBefore = '72h'): string {
  const metadata = { name: 'ci', annotations: { 'heddle.dev/renew-before': renewBefore } };
  const stated = { name: 'CI', type: 'reusable', expires_in: 30 * 86_400, ...spec };
  return JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'SetupKey', metadata, spec: stated });
}

/** Opens an office whose clock the test moves, with a source that declares one setup key and runs every 50 ms. */
async function renewing(document = setupKey(), concluded?: (later: (days: number) => void) => void) {
  const office = await openSampleAccount();
  const start = Date.parse(office.engine.now());
  let at = start;
  const clocked = (engine: Engine): Engine => ({ ...engine, now: () => new Date(at).toISOString() });
  const later = (days: number): void => {
    at = start + days * day;
  };
  const origin = newMemoryOrigin('keys', document);
  const engine = clocked(office.engine);
  const open = () => ({ ...origin.open(), concluded: async () => concluded?.(later) });
  office.run([{ ...origin, open }], { engine, intervalMs: 50 });
  const state = () => office.engine.snapshots.fresh(office.account);
  const key = async () => (await state()).findByKey('SetupKey', 'ci');
  const hash = async () => String((await key())?.derived['key_hash']);
  return {
    ...{ office, origin, engine, clocked, key, hash },
    reads: () => origin.reads,
    revision: async () => (await state()).revision,
    later,
    /** Returns the newest value of the key, as long as nobody has read it. */
    async value() {
      const found = await findUnreadOutputs(office.engine, office.account, 'keys');
      return String(found.get((await key())?.id ?? '')?.values['key']);
    },
    /** Enrols a machine with the value of the key whose hash is `by`. */
    async enrol(name: string, by: string) {
      const { id } = present(await key());
      const authorizer = { way: 'setup_key', id, hash: by, revision: (await state()).revision } as const;
      const [tunnelKey, signingKey] = [sha256Base64(name), name];
      const request = { account: office.account, authorizer, name, hostname: name, tunnelKey, signingKey };
      return await enrolPeer(engine, { ...request, extraLabels: [], location: {} });
    },
  };
}

describe('a setup key with the annotation `heddle.dev/renew-before`', () => {
  test('gets a new value once, that long before its value expires, and keeps its id', async () => {
    const { office, key, hash, later, reads, revision, value } = await renewing();
    await expect.poll(key).toBeDefined();
    const [first, made] = [await hash(), present(await key())];
    expect(sha256Base64(await value())).toBe(first);
    later(26);
    const before = reads();
    await expect.poll(reads).toBeGreaterThan(before + 2);
    expect(await hash()).toBe(first);
    const at = await revision();
    later(28);
    await expect.poll(hash).not.toBe(first);
    const renewed = present(await key());
    expect(renewed).toMatchObject({ id: made.id, derived: { former: [{ key_hash: first }], used_times: 0 } });
    expect(Date.parse(String(renewed.derived['expires'])) - Date.parse(String(made.derived['expires']))).toBe(28 * day);
    expect(sha256Base64(await value())).toBe(await hash());
    const found = await findEntries(office.database, 'setup-key', [first, await hash()]);
    expect([...found.values()].map(({ subject }) => subject)).toEqual([made.id, made.id]);
    const looked = reads();
    await expect.poll(reads).toBeGreaterThan(looked + 2);
    expect(await revision()).toBe(at + 1);
  });

  test('accepts the previous value until that expires', async () => {
    const { key, hash, later, enrol } = await renewing();
    await expect.poll(key).toBeDefined();
    const first = await hash();
    await enrol('one', first);
    later(28);
    await expect.poll(hash).not.toBe(first);
    await enrol('two', first);
    await enrol('three', await hash());
    expect((await key())?.derived['used_times']).toBe(2);
    later(31);
    await expect(enrol('four', first)).rejects.toThrow(/setup key has expired/);
    await enrol('five', await hash());
    await expect(enrol('six', sha256Base64('no value of it'))).rejects.toThrow(/setup key invalid/);
  });

  test('is renewed by only one of two servers, also if it expired meanwhile', async () => {
    const { office, origin, clocked, key, hash, later, revision } = await renewing();
    await expect.poll(key).toBeDefined();
    const [first, at] = [await hash(), await revision()];
    office.run([origin], { engine: clocked(await office.another()), intervalMs: 50 });
    later(40);
    await expect.poll(hash).not.toBe(first);
    const looked = origin.reads;
    await expect.poll(() => origin.reads).toBeGreaterThan(looked + 3);
    expect(await revision()).toBe(at + 1);
    // A previous value that had expired already is not listed.
    expect((await key())?.derived['former']).toEqual([]);
  });

  test('is renewed when it becomes due at the end of a reconcile', async () => {
    const { key, reads } = await renewing(setupKey(), (later) => later(28));
    const formerly = async () => (await key())?.derived['former'];
    await expect.poll(formerly).toMatchObject([{ key_hash: expect.any(String) }]);
    const looked = reads();
    await expect.poll(reads).toBeGreaterThan(looked + 3);
    expect(await formerly()).toHaveLength(1);
  });

  test('that was used up can be used again with the new value, but not with the previous one', async () => {
    const { key, hash, later, enrol } = await renewing(setupKey({ type: 'one-off' }));
    await expect.poll(key).toBeDefined();
    const first = await hash();
    await enrol('one', first);
    await expect(enrol('two', first)).rejects.toThrow(/has reached its usage limit/);
    later(28);
    await expect.poll(hash).not.toBe(first);
    await expect(enrol('two', first)).rejects.toThrow(/setup key invalid/);
    await enrol('three', await hash());
  });

  test('is not renewed after it is revoked', async () => {
    const { origin, key, hash, later } = await renewing();
    await expect.poll(key).toBeDefined();
    const first = await hash();
    origin.put(setupKey({ revoked: true }));
    await expect.poll(async () => (await key())?.spec['revoked']).toBe(true);
    later(28);
    const looked = origin.reads;
    await expect.poll(() => origin.reads).toBeGreaterThan(looked + 3);
    expect(await hash()).toBe(first);
  });

  test.each([
    ['3 days', /is `3 days`; write a duration of at least an hour, such as `72h`/],
    ['10m', /is `10m`; write a duration of at least an hour/],
    ['720h', /is `720h`, and the generated values are valid for 720h; write at most `719h`/],
  ])('reports a problem when it cannot be renewed %s before', async (renewBefore, message) => {
    const { office } = await renewing(setupKey({}, renewBefore));
    await expect
      .poll(async () => (await office.statusOf('keys')).problems)
      .toMatchObject([{ code: 'annotation_invalid', message: expect.stringMatching(message) }]);
  });
});
