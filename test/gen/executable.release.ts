import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asObject, asObjects, asTexts, type JsonObject } from '../../src/lib/json.ts';
import { programVersion } from '../../src/version.ts';
import { makeExecutable } from '../setup/executable.ts';
import { type Program, runHeddle, serveHeddle } from '../setup/heddle.ts';
import { blobOf, type Layout, makeLayout, unpackLayout } from '../setup/layout.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
let executable: string;
let program: Program;
beforeAll(() => {
  executable = makeExecutable();
  folder = dirname(executable);
  program = { node: executable, launcher: undefined, user: process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {} };
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('the executable', () => {
  test('comes with its bill of materials, the licences, and the digests of all files', () => {
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
    const digests = new Map(sums.map((line) => line.split('  ').reverse() as [string, string]));
    const files = readdirSync(folder).filter((name) => name !== 'SHA256SUMS');
    expect([...digests.keys()].sort()).toEqual(files.sort());
    for (const name of files) {
      expect(digests.get(name)).toBe(digestOf(join(folder, name)));
    }
    const licences = readFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    expect(licences).toContain(`Node.js ${process.versions.node}\n\nNode.js is licensed`);
  });

  test('has a bill of materials with the packages inside and their digests, its Node, and no build tool', () => {
    const bill = JSON.parse(readFileSync(`${executable}.cdx.json`, 'utf8'));
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'heddle', version: programVersion() } },
    });
    const names = bill.components.map((component: { readonly name: string }) => component.name);
    expect(names).toEqual(expect.arrayContaining(['@electric-sql/pglite', 'fastify', 'kysely', 'node', 'pg', 'yaml']));
    expect(names.filter((name: string) => ['typescript', 'vitest', 'rolldown', 'postject'].includes(name))).toEqual([]);
    const unknown = bill.components.filter(
      (component: { readonly hashes?: unknown }) => component.hashes === undefined,
    );
    expect(unknown).toEqual([]);
    const sha256 = (path: string) => [{ alg: 'SHA-256', content: digestOf(path) }];
    expect(bill.metadata.component.hashes).toEqual(sha256(executable));
    expect(bill.components.find(({ name }: { readonly name: string }) => name === 'node').hashes).toEqual(
      sha256(process.execPath),
    );
    const refs = new Set([bill.metadata.component, ...bill.components].map((item) => item['bom-ref']));
    for (const { ref, dependsOn } of bill.dependencies)
      expect([ref, ...dependsOn].filter((name) => !refs.has(name))).toEqual([]);
  });

  test('has a bill of materials that the strict CycloneDX validator accepts, which refuses a wrong one', async () => {
    const bill = readFileSync(`${executable}.cdx.json`, 'utf8');
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5);
    expect(await validator.validate(bill)).toBeNull();
    const faults = await validator.validate(bill.replaceAll('"id": "MIT"', '"id": "no licence"'));
    expect(JSON.stringify(faults)).toContain('/licenses/0/license/id');
  });

  test('needs the shared libraries of the versions that docs/install.md names, and no others', () => {
    const { stdout } = spawnSync('ldd', [executable], { encoding: 'utf8' });
    const libraries = [...stdout.matchAll(/^\s+(lib[\w+]+)\.so\S* =>/gm)].map(([, name]) => name);
    // These are parts of glibc. Each of the other two libraries has its own package.
    const glibc = ['libc', 'libdl', 'libm', 'libpthread'];
    expect(libraries.filter((name) => !glibc.includes(name ?? '')).sort()).toEqual(['libgcc_s', 'libstdc++']);
    const symbols = readFileSync(executable, 'latin1');
    const newest = (prefix: string) =>
      [...symbols.matchAll(new RegExp(`\\b${prefix}_(\\d+(?:\\.\\d+)+)\\0`, 'g'))]
        .map(([, version = '']) => version)
        .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
        .at(-1);
    const page = readFileSync(join(root, 'docs/install.md'), 'utf8');
    expect(page).toContain(`glibc ${newest('GLIBC')} or newer`);
    expect(page).toContain(`\`CXXABI_${newest('CXXABI')}\` and \`GLIBCXX_${newest('GLIBCXX')}\``);
  });

  test('runs without any other file, in an empty environment', () => {
    const { stdout, stderr } = spawnSync(executable, ['version'], { cwd: '/', env: {}, encoding: 'utf8' });
    expect([stdout, stderr]).toEqual([`heddle ${programVersion()} (Node ${process.versions.node})\n`, '']);
  });

  test('refuses invalid documents with their position, and accepts valid ones', async () => {
    const home = ownDirectory();
    writeFileSync(join(home, 'bad.yaml'), 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {}\n');
    const bad = await runHeddle(['validate', 'bad.yaml'], { program, cwd: home });
    expect(bad).toMatchObject({ code: 5, err: '' });
    expect(bad.out).toMatch(/bad\.yaml:3.*name/);
    const good = await runHeddle(['validate', join(root, 'examples/quickstart')], {
      program: { ...program, user: {} },
    });
    expect(good).toMatchObject({ code: 0, err: '', out: expect.stringContaining('documents') });
  });

  test('serves on the embedded database, applies documents, and starts again', async () => {
    const home = ownDirectory();
    mkdirSync(join(home, 'documents'));
    writeFileSync(
      join(home, 'documents/a.yaml'),
      'apiVersion: heddle.dev/v1\nkind: Group\nmetadata: { name: visitors }\n',
    );
    for (const expected of [/created Group visitors/, / serves http/]) {
      await using server = await serveHeddle(['--source', 'documents'], { program, cwd: home });
      await server.line(expected);
      expect(await server.stop()).toBe(0);
    }
  });
});

describe('an executable on an unsupported machine', () => {
  // The shell prints the error, because nothing of the program runs. The page quotes the error and explains what to do.
  const page = readFileSync(join(root, 'docs/install.md'), 'utf8');

  /** Replaces bytes in a copy of the executable, and returns the error that a shell prints for it. */
  function complaintAbout(find: Buffer, put: Buffer): string {
    const copy = join(ownDirectory(), 'heddle');
    const bytes = readFileSync(executable);
    const at = bytes.indexOf(find);
    expect(at).toBeGreaterThan(0);
    put.copy(bytes, at);
    writeFileSync(copy, bytes, { mode: 0o755 });
    const { status, stderr } = spawnSync('bash', ['-c', `${copy} version`], { encoding: 'utf8' });
    expect([126, 127]).toContain(status);
    return stderr;
  }

  test('fails with an error that docs/install.md explains, when the architecture is another one', () => {
    // In the ELF header, the machine follows the type of the file.
    const [x64, arm64] = [Buffer.from([0x3e, 0]), Buffer.from([0xb7, 0])];
    const complaint = process.arch === 'x64' ? complaintAbout(x64, arm64) : complaintAbout(arm64, x64);
    const [said] = complaint.match(/cannot execute binary file: Exec format error/) ?? expect.fail(complaint);
    expect(page).toContain(`| \`${said}\` |`);
  });

  test('fails with an error that docs/install.md explains, when its loader is missing', () => {
    const complaint = complaintAbout(Buffer.from('/ld-linux-'), Buffer.from('/ld-other-'));
    const [said] = complaint.match(/required file not found|No such file or directory/) ?? expect.fail(complaint);
    expect(page).toContain(`${said}\``);
  });
});

describe('the image', () => {
  let layout: Layout;
  let image: Program;
  let settings: JsonObject;
  beforeAll(() => {
    layout = makeLayout(executable);
    image = unpackLayout(layout);
    settings = asObject(layout.configuration['config']);
  });

  test('is an OCI layout in which every blob has the digest and size by which it is referred to', () => {
    const { manifest, folder: at } = layout;
    for (const named of [asObject(manifest['config']), ...asObjects(manifest['layers'])]) {
      const bytes = readFileSync(blobOf(at, named));
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      expect(named).toMatchObject({ digest, size: bytes.length });
    }
    expect(JSON.parse(readFileSync(join(at, 'oci-layout'), 'utf8'))).toEqual({ imageLayoutVersion: '1.0.0' });
    const tars = asObjects(manifest['layers']).map((layer) => gunzipSync(readFileSync(blobOf(at, layer))));
    const contents = tars.map((tar) => `sha256:${createHash('sha256').update(tar).digest('hex')}`);
    expect(asObject(layout.configuration['rootfs'])['diff_ids']).toEqual(contents);
  });

  test('has the user, the settings and the data directory of the Dockerfile', () => {
    const dockerfile = readFileSync(join(root, 'src/gen/release/image/Dockerfile'), 'utf8');
    expect(settings).toMatchObject({ User: '1000:1000', Cmd: ['serve'], Volumes: { '/var/lib/heddle': {} } });
    const variables = [...dockerfile.matchAll(/\b((?:HEDDLE_(?!VERSION)|NODE_ENV)\w*=[^\s\\]+)/g)].map(
      ([, text]) => text,
    );
    expect(variables.length).toBeGreaterThan(2);
    expect(settings['Env']).toEqual(expect.arrayContaining(variables));
    const labels = [...dockerfile.matchAll(/(org\.opencontainers\.image\.\w+)="([^"$]+)"/g)];
    expect(labels.length).toBeGreaterThan(2);
    for (const [, label = '', text] of labels)
      expect([label, asObject(settings['Labels'])[label]]).toEqual([label, text]);
  });

  test('is not built when a library that it needs is missing', () => {
    const tools = mkdtempSync(join(folder, 'tools-'));
    writeFileSync(join(tools, 'ldd'), '#!/bin/sh\nprintf "\\tlibabsent.so.1 => not found\\n"\n', { mode: 0o755 });
    const words = ['src/gen/release/layout.ts', '--out', join(folder, 'none'), '--executables', folder];
    const env = { ...process.env, PATH: `${tools}:${process.env['PATH']}` };
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', env });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('needs libabsent.so.1, which is not on this machine'),
    ]);
  });

  test('runs as an unprivileged user on a read-only file system, and is healthy', async () => {
    const pairs = asTexts(settings['Env']);
    const env = Object.fromEntries(pairs.filter((pair) => pair.startsWith('HEDDLE_')).map((pair) => pair.split('=')));
    if (image.node.endsWith('/heddle')) env['HEDDLE_DATA_DIR'] = join(ownDirectory(), 'data');
    const version = await runHeddle(['version'], { program: image });
    expect(version).toEqual({ code: 0, err: '', out: expect.stringContaining(`heddle ${programVersion()} `) });
    await using server = await serveHeddle([], { program: image, env });
    expect(server.lines.join('\n')).toContain(`token to ${env['HEDDLE_DATA_DIR']}/token`);
    expect(await runHeddle(['health', '--server', server.url], { program: image })).toMatchObject({ code: 0 });
    expect(await server.stop()).toBe(0);
  });

  test('is not built without an executable of this version', () => {
    const words = [
      'src/gen/release/layout.ts',
      '--out',
      join(folder, 'none'),
      '--executables',
      join(folder, 'nowhere'),
    ];
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('run `npm run build:executable` first')]);
  });
});

test('the build of the executable refuses systems other than Linux and names the alternative', () => {
  const pretend = 'data:text/javascript,Object.defineProperty(process, "platform", { value: "darwin" })';
  const words = ['--import', pretend, 'src/gen/release/executable.ts'];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^An executable can only be built on Linux, .*`npm pack`\.\n$/),
  ]);
});

/** Creates a directory that belongs to the user who runs the program. */
function ownDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-executable-'));
  const { uid, gid } = program.user;
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid);
  return directory;
}

/** Returns the SHA-256 digest of a file, in hexadecimal. */
function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
