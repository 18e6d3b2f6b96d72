import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bundle, bundle, programEntries } from './bundle.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const licenceFilePattern = /^(licen[cs]e|notice|copying)([-.].*)?$/i;

/** Name of the file with the licences of the bundled packages. */
export const licencesFile = 'THIRD-PARTY-LICENSES.txt';

/** Writes the program as packages, images and executables contain it. Deletes the former content of the folder. */
export async function writeProgram(folder: string): Promise<Bundle> {
  rmSync(folder, { recursive: true, force: true });
  const program = await bundle(programEntries, folder);
  writeFileSync(join(folder, licencesFile), licencesOf(program.packages));
  return program;
}

/** Returns the licences of the packages, which must accompany every copy. */
function licencesOf(packages: readonly string[]): string {
  const sections = packages.map((folder) => {
    const text = readFileSync(join(root, folder, 'package.json'), 'utf8');
    const { name, version, license } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const files = readdirSync(join(root, folder)).filter((file) => licenceFilePattern.test(file));
    const texts = files.sort().map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
    return [`${String(name)} ${String(version)} (${String(license ?? 'see below')})`, ...texts].join('\n\n');
  });
  return `${['Heddle contains these packages.', ...sections].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
