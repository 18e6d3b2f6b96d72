import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { allowExcess } from '../../src/db/archive/limits.ts';
import { archiveOfBytes } from '../../src/db/archive/packed.ts';
import { archiveRows } from '../../src/db/archive/rows.ts';
import { measureArchive, verifyArchive } from '../../src/db/archive/verify.ts';
import { InvalidInput } from '../../src/model/errors.ts';
import { expectExcess, header, packedRows, rowsIn, signer, written } from './archives.ts';

const reading = (archive: Buffer) => rowsIn(archive).catch((error: unknown) => error);

describe('verifying an archive', () => {
  it('returns its header, the number of rows of each section, and its signature', async () => {
    const structure = await verifyArchive(archiveOfBytes(await written([{ id: 'b' }, { id: 'c' }])));
    expect(structure).toMatchObject({ header, keys: [], signed: { key: signer.keyId } });
    expect([structure.rows.get('objects'), structure.rows.get('tokens')]).toEqual([2, 0]);
    expect(structure.signed && signer.verify(structure.signed.text, structure.signed)).toBe(true);
  });

  it('does not parse the rows', async () => {
    const archive = packedRows(['not JSON', '[]', '\u0000']);
    expect((await verifyArchive(archiveOfBytes(archive))).rows.get('objects')).toBe(3);
    expect(await reading(archive)).toEqual(
      new InvalidInput(
        'the archive is damaged: one of its lines is not a JSON object. Nothing was written; use another copy of it',
      ),
    );
  });

  it('accepts a last line with many keys, as earlier releases wrote it', async () => {
    const keys = Array.from({ length: 60_000 }, (_, at) => at.toString(16).padStart(12, '0'));
    const archive = packedRows([], keys);
    expect((await verifyArchive(archiveOfBytes(archive))).keys).toEqual(keys);
  });

  it('refuses a long or deep line between the rows, without parsing it', async () => {
    const text = (line: string) => verifyArchive(archiveOfBytes(gzipSync(`${line}\n`)));
    await expect(text(`{"archive":"heddle","a":"${randomBytes(900_000).toString('base64')}"}`)).rejects.toThrow(
      /header .* is too long/,
    );
    await expect(text(`{"formatVersion":${'['.repeat(9000)}${']'.repeat(9000)}}`)).rejects.toThrow(/levels deep/);
  });

  it('refuses a row that looks like the end of a section', async () => {
    await expect(verifyArchive(archiveOfBytes(packedRows(['{"end":"tokens","rows":0,"sha256":""}'])))).rejects.toThrow(
      /unexpected line/,
    );
  });
});

describe('measuring an archive', () => {
  const padding = { padding: randomBytes(600_000).toString('base64') };

  it('finds nothing in an archive that an owner can restore', async () => {
    const { structure, excess } = await measureArchive(archiveOfBytes(await written([{ id: 'b' }])));
    expect([structure.rows.get('objects'), excess]).toEqual([1, undefined]);
  });

  it.each([
    ['a row with too many values', [padding, { a: Array(1_000_001).fill(0) }], 'one of its lines has more than'],
    ['a row that is too long', [{ a: 'x'.repeat(5_000_000) }], 'one of its lines is too long'],
    ['far more rows than fit its size', Array(120_000).fill({}), 'it has far more rows'],
  ])('returns %s, and verifies the archive nevertheless', async (_, rows, expected) => {
    await expectExcess(rows, expected);
  });
});

describe('the rows of an archive', () => {
  it('equal what was written', async () => {
    const rows = [
      { id: 'b', spec: { text: 'über "長い" \n' } },
      { id: 'c', end: 'objects', list: [1, [], {}] },
    ];
    expect(await rowsIn(await written(rows))).toEqual(rows);
  });

  it('are read without computing the checksums again, which were verified', async () => {
    const rows = [{ id: 'b' }, { id: 'c' }];
    const archive = await written(rows);
    const lines = gunzipSync(archive).toString();
    const other = gzipSync(lines.replaceAll(/"sha256":"[^"]*"/g, '"sha256":""'));
    await expect(verifyArchive(archiveOfBytes(other))).rejects.toThrow(/checksum/);
    expect(await rowsIn(other, archive)).toEqual(rows);
    await expect(rowsIn(await written(rows.slice(1)), archive)).rejects.toThrow();
    await expect(rowsIn(await written([...rows, ...rows]), archive)).rejects.toThrow();
  });

  it.each([
    ['more than 1,000,000 values', `{"a":[${'0,'.repeat(1_000_001)}0]}`, /more than 1000000 values/],
    ['more than 500 levels', `{"a":${'['.repeat(500)}${']'.repeat(500)}}`, /nests more than 500 levels deep/],
    ['bytes that are not UTF-8', '{"a":"\xff"}', /not a JSON object/],
  ])('are refused with %s, even when the archive is signed', async (_, row, message) => {
    const padding = JSON.stringify({ a: randomBytes(300_000).toString('base64') });
    expect(await reading(packedRows([padding, row]))).toMatchObject({ message: expect.stringMatching(message) });
  });

  it('may exceed the limits when every excess is allowed', async () => {
    const archive = await written([{ a: Array(1_000_001).fill(0) }, { a: 'x'.repeat(5_000_000) }]);
    const values: number[] = [];
    for await (const row of archiveRows(
      archiveOfBytes(archive),
      await verifyArchive(archiveOfBytes(archive), allowExcess),
      allowExcess,
    ))
      if (row.section === 'objects') values.push(row.values);
    expect(values).toEqual([1_000_001, 2]);
  });
});

describe('writing an archive', () => {
  const texts = Array.from({ length: 8000 }, (_, at) => `sealed:2:${at.toString(16).padStart(12, '0')}:x`);

  it('lists at most 1000 keys, so that the last line stays short', async () => {
    const { keys } = await verifyArchive(archiveOfBytes(await written([{ texts }])));
    expect(keys.length).toBe(1000);
  });

  it('lists the keys of the server, however many texts look like sealed values', async () => {
    const { keys } = await verifyArchive(
      archiveOfBytes(await written([{ texts }, { text: `sealed:2:${signer.keyId}:x` }])),
    );
    expect([keys.length, keys.includes(signer.keyId)]).toEqual([1001, true]);
  });
});
