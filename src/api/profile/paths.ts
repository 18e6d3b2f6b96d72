import { type PathRow, rows } from './table.ts';

const paths = rows.filter((row): row is PathRow => row.differs === 'path');

/** Translates a path of the profile to the specification. Returns any other path unchanged. */
export function toSpecificationPath(url: string): string {
  return replaced(url, ({ ours, theirs }) => [theirs, ours]);
}

/** Translates a path of the specification to the profile. */
export function toProfilePath(url: string): string {
  return replaced(url, ({ ours, theirs }) => [ours, theirs]);
}

function replaced(url: string, pair: (row: PathRow) => readonly [string, string]): string {
  for (const row of paths) {
    const [from, to] = pair(row);
    // The rest must begin a new segment, a query or a fragment.
    if (url.startsWith(from) && /^(?:$|[/?#])/.test(url.slice(from.length))) return `${to}${url.slice(from.length)}`;
  }
  return url;
}
