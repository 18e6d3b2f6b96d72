import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { emptyOut } from './out.ts';
import { licencesFile, writeProgram } from './program.ts';

const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: dist } } });

const out = resolve(values.out);
emptyOut(out, licencesFile);
const { files, packages } = await writeProgram(out);
// Not on standard output: `npm pack` prints there which file it wrote.
console.error(`wrote ${files.length} files with parts of ${packages.length} packages to ${relative('', out) || '.'}`);
