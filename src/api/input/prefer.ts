/** One preference of the header: a name, and optionally a value, which may be quoted (RFC 7240). */
const preferencePattern = /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?/s;

/**
 * Maximum length of the header that is read, in characters: quotes that are not closed are looked for again and again.
 */
const maxLength = 1000;

/** Text up to a comma outside of quotes. */
const itemPattern = /(?:"(?:[^"\\]|\\.)*"|[^",])+/gs;

/**
 * Returns the value of a preference in a `Prefer` header, in lower case; `undefined` when it is not there. Names and
 * values are compared without regard to letter case. Of several values, the first one counts.
 */
export function preferenceOf(requested: string, header: string): string | undefined {
  for (const [item] of header.slice(0, maxLength).matchAll(itemPattern)) {
    const [, name = '', quoted, plain = ''] = preferencePattern.exec(item) ?? [];
    if (name.toLowerCase() === requested) return (quoted?.replace(/\\(.)/gs, '$1') ?? plain).toLowerCase();
  }
  return undefined;
}
