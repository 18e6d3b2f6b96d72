import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Attack } from './attacks.ts';

/** Bytes of padding. The limits for the unpacked size of an archive grow with the size of the archive. */
const paddingBytes = 500_000;

const unpackedBytes = 60_000_000;

/** Returns an unsigned archive whose last section repeats the text. */
function archiveOf(text: string): Uint8Array<ArrayBuffer> {
  const padding = `${JSON.stringify({ padding: randomBytes(paddingBytes).toString('base64') })}\n`;
  const head = [
    { archive: 'heddle', formatVersion: 1, account: 'a', revision: 5, base: 5, history: false, createdAt: 'now' },
    { section: 'account' },
  ];
  const sha256 = createHash('sha256').update(padding).digest('hex');
  const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const rows = text.repeat(Math.floor(unpackedBytes / text.length));
  const tail = [{ end: 'account', rows: 1, sha256 }, { section: 'objects' }];
  return Uint8Array.from(gzipSync(`${lines(head)}${padding}${lines(tail)}${rows}`));
}

const object = (spec: string) =>
  `{"id":"a","kind":"Group","name":"a","spec":${spec},"derived":{},"declared":[],"createdRevision":1,"updatedRevision":1}\n`;

const texts: readonly (readonly [string, () => string])[] = [
  ['rows of empty lists', () => object(`{"peers":[${'[],'.repeat(300_000)}[]]}`)],
  ['rows of deep lists', () => object('['.repeat(400_000) + ']'.repeat(400_000))],
  ['rows of zeros', () => object(`[${'0,'.repeat(450_000)}0]`)],
  ['short rows', () => '{}\n'],
  ['empty rows', () => '\n'],
  ['ends of sections', () => '{"end":"account"}\n'],
  ['one long row', () => 'x'],
];

/** Archives that owners upload. The server did not sign them. */
export const archiveAttacks: readonly Attack[] = texts.map(([name, text]) => {
  // Compressing 60 MB takes long, so the archive is reused when the attack is sent again.
  let made: Uint8Array<ArrayBuffer> | undefined;
  return {
    name: `POST /api/config/restore: ${name}`,
    path: '/api/config/restore',
    headers: { 'content-type': 'application/gzip' },
    body() {
      made ??= archiveOf(text());
      return made;
    },
  };
});
