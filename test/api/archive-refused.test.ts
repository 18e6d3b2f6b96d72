import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveOfBytes, refuseChanges } from '../../src/db/archive/packed.ts';
import { verifyArchive } from '../../src/db/archive/verify.ts';
import { restoreWholeAccount } from '../../src/features/config/archive/restore-account.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { backUp, everything, furnished, keys, linesOf, packed, restore, sendBack } from './archive-setup.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

describe('a damaged archive', () => {
  const spoiled: readonly (readonly [string, RegExp, (lines: string[]) => readonly string[] | Buffer])[] = [
    ['cut short', /cut short/, (lines) => packed(lines).subarray(0, -40)],
    ['without its end', /cut short/, (lines) => lines.slice(0, -1)],
    [
      'without a row',
      /checksum of its section objects/,
      (lines) => lines.filter((line) => !line.includes('"by hand"')),
    ],
    ['with a changed row', /checksum/, (lines) => lines.map((line) => line.replace('"by hand"', '"by foot"'))],
    ['with rows behind its end', /data after its end/, (lines) => [...lines, '{}']],
    [
      'of a newer format',
      /newer Heddle/,
      ([head = '', ...rest]) => [head.replace('"formatVersion":1', '"formatVersion":2'), ...rest],
    ],
    ['that is none', /not an archive of Heddle/, () => ['{"hello": "world"}']],
    ['that is no gzip', /not an archive of Heddle/, () => Buffer.from('apiVersion: heddle.dev/v1')],
    ['with changed bytes', /damaged/, (lines) => flipped(packed(lines))],
  ];

  const source = sharedApi(keys);
  const target = sharedApi(keys);
  let archive: Buffer;
  beforeAll(async () => {
    await source().group('by hand');
    archive = await backUp(source());
  });

  it.each(spoiled)('is refused (%s), and nothing is written', async (_, message, spoil) => {
    const other = target();
    const before = await everything(other);
    const made = spoil(linesOf(archive));
    const answer = await restore(other, Buffer.isBuffer(made) ? made : packed(made as readonly string[]));
    expect([answer.status, answer.body['message']]).toEqual([422, expect.stringMatching(message)]);
    expect(await everything(other)).toBe(before);
  });

  it('is refused when it is changed after its check, and nothing is written', async () => {
    const other = packed(linesOf(archive).map((line) => line.replace('"by hand"', '"by foot"')));
    const fresh = target();
    const before = await everything(fresh);
    let reads = 0;
    const changing = refuseChanges({
      size: archive.length,
      // The first read verifies the archive, the second one checks its rows, the third one writes them.
      read: () => archiveOfBytes(++reads < 3 ? archive : other).read(),
    });
    await expect(restoreWholeAccount(fresh.engine, changing)).rejects.toThrow(/was changed while it was read/);
    expect([reads, await everything(fresh)]).toEqual([3, before]);
  });

  it('is not verified a second time when its structure is given', async () => {
    const bytes = archiveOfBytes(archive);
    await using fresh = await testApi('postgres', keys);
    let reads = 0;
    const counted = {
      size: bytes.size,
      read() {
        reads += 1;
        return bytes.read();
      },
    };
    const structure = await verifyArchive(counted);
    await restoreWholeAccount(fresh.engine, counted, { structure });
    expect(reads).toBe(3);
    const { signed: _, ...unsigned } = structure;
    await expect(restoreWholeAccount(fresh.engine, counted, { structure: unsigned })).rejects.toThrow(/is not signed/);
  });

  function flipped(bytes: Buffer): Buffer {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(copy.length >> 1) ^ 0xff, copy.length >> 1);
    return copy;
  }
});

describe('the signature of an archive', () => {
  // Each test makes its own backup, and a restored account has the same objects.
  let api: TestApi;
  beforeAll(async () => {
    api = await furnished();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  /** Returns an archive with changed rows and recomputed checksums, which anyone can compute. */
  function forged(lines: readonly string[], change: (line: string) => string): Buffer {
    const whole = createHash('sha256');
    let section = createHash('sha256');
    const made = lines.map((line, at) => {
      const value = JSON.parse(line);
      const isLast = at === lines.length - 1;
      let text = change(line);
      if (value.section !== undefined) section = createHash('sha256');
      else if (isLast) text = JSON.stringify({ ...value, sha256: whole.digest('hex') });
      else if (value.end !== undefined) text = JSON.stringify({ ...value, sha256: section.digest('hex') });
      else section.update(`${text}\n`);
      if (!isLast) whole.update(`${text}\n`);
      return text;
    });
    return packed(made);
  }
  const older = (line: string) => line.replace(/"created_at":"[^"]*"/, '"created_at":"2001-01-01T00:00:00Z"');

  it('detects a changed archive despite correct checksums; neither owner nor operator can restore it', async () => {
    const lines = linesOf(await backUp(api));
    const archive = forged(lines, older);
    expect(archive.equals(forged(lines, (line) => line))).toBe(false);
    const before = await everything(api);
    for (const answer of [
      await sendBack(api, archive, `?replace=${api.account}`),
      await restore(api, archive, { replace: api.account }),
      await restore(api, archive, { replace: api.account, acceptUnsigned: true }),
    ])
      expect(answer).toMatchObject({ status: 422, body: { message: expect.stringContaining('signature') } });
    expect(await everything(api)).toBe(before);
  });

  it('is verified before any row is parsed', async () => {
    const lines = linesOf(await backUp(api));
    const end = JSON.parse(lines.at(-1) ?? '');
    const archive = forged([...lines.slice(0, -1), JSON.stringify({ ...end, key: 'ffffffffffff' })], (line) =>
      line.includes('"by hand"') ? 'not JSON' : line,
    );
    const owner = await sendBack(api, archive, `?replace=${api.account}`);
    expect([owner.status, owner.body['message']]).toEqual([422, expect.stringContaining('ffffffffffff')]);
    const operator = await restore(api, archive, { replace: api.account, acceptUnsigned: true });
    expect([operator.status, operator.body['message']]).toEqual([422, expect.stringContaining('not a JSON object')]);
  });

  it.each([
    ['none', (end: JsonObject) => ({ ...end, signature: undefined, key: undefined }), /not signed/],
    ['one of a key that is not known', (end: JsonObject) => ({ ...end, key: 'ffffffffffff' }), /ffffffffffff/],
  ])('may be %s when the operator accepts unsigned archives', async (_, change, message) => {
    const lines = linesOf(await backUp(api));
    const end = JSON.stringify(change(JSON.parse(lines.at(-1) ?? '')));
    const archive = packed([...lines.slice(0, -1), end]);
    for (const answer of [
      await sendBack(api, archive, `?replace=${api.account}`),
      await restore(api, archive, { replace: api.account }),
    ])
      expect(answer).toMatchObject({ status: 422, body: { message: expect.stringMatching(message) } });
    const accepted = await restore(api, archive, { replace: api.account, acceptUnsigned: true });
    expect(accepted.status).toBe(200);
  });
});
