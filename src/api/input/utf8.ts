import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';

/** A body that cannot be used as it is: answered with 400. */
export class BadBody extends Error {
  readonly statusCode = 400;
}

class OtherCharset extends Error {
  readonly statusCode = 415;
}

/** The text of a body. Throws for bytes that are not UTF-8: stored as replacement characters they would be lost for good. */
export function textOfBody(body: string | Buffer): string {
  if (typeof body === 'string') return body;
  const text = body.toString('utf8');
  if (isUtf8(body)) return text;
  throw new BadBody(`the body is not valid UTF-8 at byte ${firstFault(body, text)}; encode it as UTF-8`);
}

const replacement = '\ufffd';

/** Where the first byte stands that was replaced: one that was really sent reads the same in both. */
function firstFault(bytes: Buffer, text: string): number {
  let [offset, from] = [0, 0];
  for (let at = text.indexOf(replacement); at >= 0; at = text.indexOf(replacement, from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (bytes.toString('utf8', offset, offset + 3) !== replacement || bytes[offset] !== 0xef) return offset;
    offset += 3;
    from = at + 1;
  }
  return offset;
}

/** Refuses bodies whose content type says that they are written in anything but UTF-8. */
export function refuseOtherCharsets(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ method, headers }) => {
    // Whatever a DELETE carries is not read.
    if (method === 'DELETE') return;
    for (const [, charset = ''] of (headers['content-type'] ?? '').matchAll(/;\s*charset\s*=\s*"?([^\s;"]*)/gi))
      if (!/^utf-?8$/i.test(charset))
        throw new OtherCharset(
          `the charset ${charset.slice(0, 40)} is not accepted; send the body in UTF-8, with \`charset=utf-8\` or none`,
        );
  });
}
