import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { archiveOfBytes } from '../../src/db/archive/packed.ts';
import { verifyArchive } from '../../src/db/archive/verify.ts';
import { expectExcess, packedRows, rowsIn, written } from './archives.ts';

describe('verifying an archive', () => {
  it('needs memory for one row, whatever the rows are', async () => {
    const row = `{"a":[${'[],'.repeat(330_000)}[]]}`;
    // 60 MB that compress well need padding, so that the archive stays within the limits for its size.
    const archive = packedRows([
      JSON.stringify({ a: randomBytes(600_000).toString('base64') }),
      ...Array(60).fill(row),
    ]);
    const before = process.resourceUsage().maxRSS;
    expect((await verifyArchive(archiveOfBytes(archive))).rows.get('objects')).toBe(61);
    // Parsing a single row takes 20 MB.
    expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(100);
  });
});

describe('measuring an archive', () => {
  it('returns too many values in its objects, and verifies the archive nevertheless', async () => {
    const padding = randomBytes(600_000).toString('base64');
    await expectExcess(Array(22).fill({ padding, a: Array(950_000).fill(0) }), 'its objects have');
  });
});

describe('the rows of an archive', () => {
  it('may list 300,000 members', async () => {
    const noise = randomBytes(10 * 300_000).toString('hex');
    const members = Object.fromEntries(
      Array.from({ length: 300_000 }, (_, at) => [`m${noise.slice(20 * at, 20 * at + 20)}`, ['source']]),
    );
    const [row] = await rowsIn(await written([{ id: 'g', members }]));
    expect(Object.keys(row?.['members'] ?? {}).length).toBe(300_000);
  });
});
