import type { FastifyReply, FastifyRequest } from 'fastify';

/** Whether what nothing knows is refused and not ignored. */
export function isStrict({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return /\bhandling=strict\b/.test(String(headers['prefer'] ?? ''));
}

const header = 'heddle-ignored';

/** What clients accept in one header, with room for the others. */
const longest = 4000;

/** Names in `Heddle-Ignored` what of a request nothing knows: `?name` of the query, JSON pointers of the body; `...` says that there are more. */
export function addIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  const present = reply.getHeader(header);
  const shown = present === undefined ? [] : [String(present)];
  let room = longest - shown.join().length;
  for (const name of names) {
    const text = encodeURI(name.toWellFormed()).replaceAll(',', '%2C');
    room -= text.length + 2;
    if (room < 0) {
      shown.push('...');
      break;
    }
    shown.push(text);
  }
  void reply.header(header, shown.join(', '));
}
