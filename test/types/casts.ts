import { relative, resolve } from 'node:path';
import { isAsExpression, isNonNullExpression, type Node, type SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

const root = resolve(import.meta.dirname, '../..');

/**
 * Lists every type assertion in the sources, as the compiler parses them: file, line and text. `as const` is not
 * counted.
 */
export function listCasts(): readonly string[] {
  const compiler = new API({ cwd: root });
  try {
    const [project] = compiler.updateSnapshot({ openProjects: [resolve(root, 'tsconfig.json')] }).getProjects();
    const paths = project?.program.getSourceFileNames() ?? [];
    return paths
      .filter((path) => path.startsWith(resolve(root, 'src/')))
      .flatMap((path) => {
        const file = project?.program.getSourceFile(path);
        return file === undefined ? [] : castsIn(file, file);
      });
  } finally {
    compiler.close();
  }
}

/** Lists the type assertions in a node. Two assertions in a row count as one. */
function castsIn(file: SourceFile, node: Node): readonly string[] {
  const isCast = isNonNullExpression(node) || (isAsExpression(node) && node.type.getText(file) !== 'const');
  const inner = isCast && isAsExpression(node.expression) ? node.expression.expression : node;
  const found: string[] = isCast ? [describe(file, node)] : [];
  inner.forEachChild((child) => {
    found.push(...castsIn(file, child));
  });
  return found;
}

function describe(file: SourceFile, node: Node): string {
  const line = file.text.slice(0, node.getStart(file)).split('\n').length;
  return `${relative(root, file.fileName)}:${line}: ${node.getText(file).replaceAll(/\s+/g, ' ')}`;
}

if (import.meta.main) process.stdout.write(`${listCasts().join('\n')}\n`);
