import { topologicalOrder } from '../../src/lib/order.ts';
import { findRetired, findRetiredProse, retired, retiredIn, retiredProse } from './glossary.ts';
import { blankComments, findImports, type Import, lineOf } from './imports.ts';
import { moduleOf, names, rowOf } from './table.ts';

/** What can be wrong with a file. */
export type Rule =
  | 'module_unknown'
  | 'import_forbidden'
  | 'import_of_value'
  | 'package_away_from_home'
  | 'node_in_pure'
  | 'impure'
  | 'environment'
  | 'kind_by_name'
  | 'file_too_long'
  | 'retired_word'
  | 'module_cycle';

/** One fault, with a sentence for the reader. */
export interface Violation {
  readonly rule: Rule;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

interface SourceFile {
  readonly path: string;
  /** As it is written; `text` is without comments. */
  readonly source: string;
  readonly module: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const longestFile = 400;
const nodeFile = 'src/lib/node-pure.ts';
const environmentFile = 'src/config.ts';

const impure =
  /(?<![\w.$])(Date\.now\(|(new )?Date\(\s*\)|Math\.random|performance\.\w|crypto\.\w|process\.\w|fetch\(|console\.\w|(setTimeout|setInterval|setImmediate|queueMicrotask)\()/g;
const environment = /\bprocess\.env\b|\bprocess\[|\benv\b[^;\n]*from\s*['"]node:process['"]/g;
const kindByName =
  /kind(\.name)? ?[!=]== ?['"][A-Z]|['"][A-Z]\w*['"] ?[!=]== ?(\w+\.)*kind\b|switch \((\w+\.)*kind(\.name)?\) \{\s*case '[A-Z]/g;

/** Checks the files of src (by path, such as `src/plan/diff.ts`) against the architecture; empty when all is well. */
export function findViolations(files: ReadonlyMap<string, string>): readonly Violation[] {
  const parsed = [...files].map(([path, source]): SourceFile => {
    const text = blankComments(source);
    return { path, source, module: moduleOf(path) ?? path, text, imports: findImports(path, text) };
  });
  return [...parsed.flatMap(checkFile), ...checkCycles(parsed)];
}

function checkFile(file: SourceFile): readonly Violation[] {
  const row = rowOf(file.module);
  if (row === undefined) return [fault(file, 'module_unknown', 1, `the import table has no line for ${file.module}`)];
  const length = file.text.trimEnd().split('\n').length;
  return [
    ...file.imports.flatMap((found) => checkImport(file, found)),
    ...(row.pure && file.path !== nodeFile
      ? search(file, impure, 'impure', 'a pure module takes it as an argument')
      : []),
    ...(file.path === environmentFile
      ? []
      : search(file, environment, 'environment', `only ${environmentFile} reads it`)),
    ...(/^kinds\b/.test(file.module) ? [] : search(file, kindByName, 'kind_by_name', 'ask the declaration instead')),
    ...(length > longestFile
      ? [fault(file, 'file_too_long', length, `${length} lines; look for its second subject`)]
      : []),
    ...checkWords(file),
  ];
}

function checkWords({ path, source }: SourceFile): readonly Violation[] {
  return [...checkNames(path, source), ...(isFrozen(path) ? [] : checkProse(path, source, 'program'))];
}

/** Columns of databases with retired names, and the programs that name them. */
const columns: ReadonlyMap<string, readonly string[]> = new Map([
  ['wanted', ['src/db/schema.ts', 'src/db/commit/commit.ts', 'test/commit/claims-of-others.test.ts']],
  ['wanted_at', ['src/db/schema.ts']],
]);

/** Checks the names of a program, and its own, for retired words. */
export function checkNames(path: string, source: string): readonly Violation[] {
  const at = (line: number, name: string, word: string): Violation => {
    const message = `${name} holds the retired word ${word}; now: ${retired[word]}`;
    return { rule: 'retired_word', path, line, message };
  };
  return [
    ...retiredIn(path).map((word) => at(1, path, word)),
    ...findRetired(source)
      .filter(({ name }) => columns.get(name)?.includes(path) !== true)
      .map(({ index, name, word }) => at(lineOf(source, index), name, word)),
  ];
}

/** Migrations that were released keep their text. */
function isFrozen(path: string): boolean {
  return path.startsWith('src/db/migrations/');
}

/** Checks prose for retired words: that of a program, of tests (comments and titles), or a page. */
export function checkProse(path: string, text: string, what: 'program' | 'tests' | 'page'): readonly Violation[] {
  return findRetiredProse(text, what).map(({ index, name, word }) => ({
    rule: 'retired_word',
    path,
    line: lineOf(text, index),
    message: `"${name}" holds the retired word ${word}; now: ${retiredProse[word]}`,
  }));
}

function checkImport(file: SourceFile, found: Import): readonly Violation[] {
  const row = rowOf(file.module);
  const at = (rule: Rule, message: string) => [fault(file, rule, found.line, message)];
  if (found.target.startsWith('node:')) {
    const allowed = row?.pure === undefined || file.path === nodeFile;
    return allowed ? [] : at('node_in_pure', `${found.target} only through ${nodeFile}`);
  }
  if (!found.relative) {
    const message = `${found.target} is not at home in ${file.module}`;
    return names(row?.packages, found.target) ? [] : at('package_away_from_home', message);
  }
  const target = moduleOf(found.target);
  if (target === undefined) return at('import_forbidden', `${found.target} is not in src`);
  if (target === file.module || names(row?.modules, target)) return [];
  if (!names(row?.types, target)) return at('import_forbidden', `${file.module} may not import ${target}`);
  return found.typeOnly ? [] : at('import_of_value', `${file.module} may import only types of ${target}`);
}

function checkCycles(files: readonly SourceFile[]): readonly Violation[] {
  const needs = new Map<string, Set<string>>();
  for (const file of files) {
    const own = needs.get(file.module) ?? new Set<string>();
    for (const { relative, target } of file.imports) if (relative) own.add(moduleOf(target) ?? target);
    needs.set(file.module, own);
  }
  const others = (module: string) => [...(needs.get(module) ?? [])].filter((other) => other !== module);
  const result = topologicalOrder(needs.keys(), others, (a, b) => (a < b ? -1 : 1));
  if (result.ok) return [];
  const [first = ''] = result.cycle;
  return [{ rule: 'module_cycle', path: `src/${first}`, line: 1, message: [...result.cycle, first].join(' -> ') }];
}

function search(file: SourceFile, pattern: RegExp, rule: Rule, advice: string): readonly Violation[] {
  return [...file.text.matchAll(pattern)].map((match) =>
    fault(file, rule, lineOf(file.text, match.index), `${match[0]}: ${advice}`),
  );
}

function fault(file: SourceFile, rule: Rule, line: number, message: string): Violation {
  return { rule, path: file.path, line, message };
}
