import { readFileSync } from 'node:fs';

/** A row of the table in `docs/clients.md` of values that are read differently from how they were sent. */
export interface DeclaredDifference {
  /** Collection and member, such as `/api/users role`. */
  readonly field: string;
  readonly sent: string;
}

const row = /^\| `(\/api\/[^`]+)` `([^`]+)` \| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm;

/** Rows of the documentation about values that are read differently from how they were sent. */
const declaredDifferences: readonly DeclaredDifference[] = [
  ...readFileSync('docs/clients.md', 'utf8').matchAll(row),
].map(([, path = '', member = '', sent = '']) => ({ field: `${path} ${member}`, sent }));

/**
 * Returns the declared fields that are read differently when they are sent empty or omitted (`true`), or with a value
 * (`false`).
 */
export function declaredFields(sentEmpty: boolean): readonly string[] {
  const isEmpty = ({ sent }: DeclaredDifference) => /^(`(""|\[\]|\{\})`|left out)$/.test(sent);
  return declaredDifferences.filter((one) => isEmpty(one) === sentEmpty).map(({ field }) => field);
}
