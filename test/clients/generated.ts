import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { toProfilePath } from '../../src/api/profile/paths.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Profile } from '../../src/model/profile.ts';

const here = import.meta.dirname;
const run = promisify(execFile);

/**
 * A directory outside the repository, like those of users who generate a client. Contains an API description, generated
 * files and programs.
 */
export interface Workshop extends Disposable {
  readonly folder: string;
  /** Runs a generator on the description of a profile. Returns its output. */
  generate(generator: Generator, profile: Profile): Promise<string>;
  /** Compiles with a configuration. Returns the output of the compiler. */
  compile(configuration: Configuration): Promise<string>;
}

/** The command of each generator, as docs/clients.md states it. */
export const generators = {
  'openapi-typescript': ['openapi-typescript', 'openapi.json', '-o', 'description.ts'],
  '@hey-api/openapi-ts': ['openapi-ts', '-i', 'openapi.json', '-o', 'sdk'],
} as const;

export type Generator = keyof typeof generators;

/**
 * Compiler configurations for the generated files and the programs. The client that hey-api adds does not compile with
 * `exactOptionalPropertyTypes`; the types that hey-api generates do.
 */
const configurations = {
  'tsconfig.json': {
    compilerOptions: {
      ...{ strict: true, noUncheckedIndexedAccess: true, noUnusedLocals: true },
      ...{ module: 'nodenext', target: 'es2023', lib: ['es2024', 'dom', 'dom.iterable'], types: [] },
      ...{ rootDir: '.', outDir: 'dist' },
    },
    include: ['*/hey-api.ts', '*/hey-api-page.ts', '*/sdk/**/*.ts'],
  },
  'tsconfig.exact.json': {
    extends: './tsconfig.json',
    compilerOptions: { exactOptionalPropertyTypes: true },
    include: [
      '*/description.ts',
      '*/openapi-fetch.ts',
      '*/openapi-fetch-*.ts',
      '*/hey-api-types.ts',
      '*/compatible.ts',
    ],
  },
} as const;

export type Configuration = keyof typeof configurations;

/**
 * Creates a workshop with the descriptions, by profile, and the programs, which need objects that only the hosted
 * edition has.
 */
export function createWorkshop(
  descriptions: Readonly<Partial<Record<Profile, JsonObject>>>,
  { withPrograms = true }: { readonly withPrograms?: boolean } = {},
): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-clients-'));
  symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [name, content] of Object.entries(configurations))
    writeFileSync(join(folder, name), JSON.stringify(content));
  for (const [profile, description] of Object.entries(descriptions)) {
    mkdirSync(join(folder, profile));
    writeFileSync(join(folder, profile, 'openapi.json'), JSON.stringify(description));
    if (!withPrograms) continue;
    copyPrograms(join(folder, profile), profile);
    for (const [name, text] of Object.entries(programsOfPage())) writeFileSync(join(folder, profile, name), text);
  }
  const node = async (cwd: string, command: string, ...words: readonly string[]) => {
    const { stdout, stderr } = await run(
      process.execPath,
      [join(folder, 'node_modules/.bin', command), ...words],
      // A failed command returns its error, which contains the output of the compiler.
      { cwd, env: { ...process.env, NO_COLOR: '1' } },
    ).catch((error: { readonly stdout: string; readonly stderr: string }) => error);
    return stripVTControlCharacters(`${stderr}${stdout}`);
  };
  return {
    folder,
    generate(generator, profile) {
      const [command, ...words] = generators[generator];
      return node(join(folder, profile), command, ...words);
    },
    compile: (configuration) => node(folder, 'tsc', '-p', configuration),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

/** Copies the programs, with the paths of a profile. A program for one profile is copied only for that profile. */
function copyPrograms(folder: string, profile: string): void {
  const programs = join(here, 'programs');
  if (profile === 'specification') cpSync(programs, folder, { recursive: true });
  else
    for (const name of readdirSync(programs))
      writeFileSync(join(folder, name), inTheirs(readFileSync(join(programs, name), 'utf8')));
  if (profile === 'specification') rmSync(join(folder, 'compatible.ts'));
}

/** Returns the programs of docs/clients.md, by file. */
function programsOfPage(): Readonly<Record<string, string>> {
  const blocks = [...pageOfClients().matchAll(/^```ts\n(.*?)^```/gms)].map(([, text = '']) => text);
  const [ofFetch = '', ofHey = ''] = blocks;
  return { 'openapi-fetch-page.ts': ofFetch, 'hey-api-page.ts': ofHey };
}

export function pageOfClients(): string {
  return readFileSync(join(here, '../../docs/clients.md'), 'utf8');
}

function inTheirs(program: string): string {
  return program.replace(/'(\/api\/[^']*)'/g, (_, path: string) => `'${toProfilePath(path)}'`);
}
