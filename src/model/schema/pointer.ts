/** A JSON pointer (RFC 6901) one step further in; names may hold `/` and `~`. */
export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
