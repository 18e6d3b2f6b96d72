import { type PathRow, rows } from './table.ts';

const paths = rows.filter((row): row is PathRow => row.differs === 'path');

/** The path of the specification for one of the profile; any other is as it is. */
export function ourPath(url: string): string {
  return replaced(url, ({ ours, theirs }) => [theirs, ours]);
}

/** The path of the profile for one of the specification. */
export function theirPath(url: string): string {
  return replaced(url, ({ ours, theirs }) => [ours, theirs]);
}

function replaced(url: string, pair: (row: PathRow) => readonly [string, string]): string {
  for (const row of paths) {
    const [from, to] = pair(row);
    // What comes behind it begins a segment, a query or a fragment.
    if (url.startsWith(from) && /^(?:$|[/?#])/.test(url.slice(from.length))) return `${to}${url.slice(from.length)}`;
  }
  return url;
}
