import { posix } from 'node:path';

/** One import, export-from or dynamic import of a file. */
export interface Import {
  readonly line: number;
  readonly typeOnly: boolean;
  /** The imported file (`src/lib/json.ts`), or the package, or `node:…`. */
  readonly target: string;
  readonly relative: boolean;
}

const statement = /^[ \t]*(?:import|export)\b(\s+type\b)?(?:([\w\s{},*$]*?)\bfrom)?\s*(['"])([^'"\n]+)\3/gm;
const dynamic = /\bimport\(\s*(['"`])([^'"`]+)\1/g;
/** Strings come first, because a glob such as `*.yaml` behind a slash begins no comment. */
export const stringOrComment = /(['"])(?:\\.|(?!\1)[^\\\n])*\1|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;
const onlyTypes = /^\s*\{(?:\s*type\s[^,}]+,?)+\s*\}\s*$/;

/** Finds what a file imports, textually; comments must be blanked before. */
export function findImports(path: string, text: string): readonly Import[] {
  const found = [...text.matchAll(statement)].map((match) => {
    const typeOnly = match[1] !== undefined || onlyTypes.test(match[2] ?? '');
    return build(path, lineOf(text, match.index), match[4] ?? '', typeOnly);
  });
  const later = [...text.matchAll(dynamic)].map((match) =>
    build(path, lineOf(text, match.index), match[2] ?? '', false),
  );
  return [...found, ...later];
}

/** Replaces comments by spaces, so that lines keep their numbers and a sentence about `process.env` is no use of it. */
export function blankComments(text: string): string {
  return text.replace(stringOrComment, (part) => (part.startsWith('/') ? part.replace(/[^\n]/g, ' ') : part));
}

/** The 1-based line of a position. */
export function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function build(path: string, line: number, specifier: string, typeOnly: boolean): Import {
  const relative = specifier.startsWith('.');
  if (relative) return { line, typeOnly, relative, target: posix.join(posix.dirname(path), specifier) };
  const segments = specifier.split('/');
  const target = specifier.startsWith('node:')
    ? specifier
    : segments.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  return { line, typeOnly, relative, target };
}
