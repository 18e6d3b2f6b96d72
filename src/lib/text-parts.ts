/** How many characters a part has. */
const partCharacters = 256 * 1024;

/** A text in parts of bounded length, none of which ends within a character. */
export function* textInParts(text: string, most = partCharacters): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + most, text.length);
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last < 0xdc00 && end < text.length) end += 1;
    yield text.slice(at, end);
    at = end;
  }
}
