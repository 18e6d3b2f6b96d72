import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareOutputFolder } from './out.ts';
import { licencesFile, writeProgram } from './program.ts';

const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: dist } } });

const out = resolve(values.out);
prepareOutputFolder(out, licencesFile);
const { files, packages } = await writeProgram(out);
// Not printed to standard output, where `npm pack` prints the name of the file that it wrote.
console.error(`wrote ${files.length} files with parts of ${packages.length} packages to ${relative('', out) || '.'}`);
