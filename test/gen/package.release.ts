import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'rolldown/experimental';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { callFault, heddleCalls } from '../setup/command-lines.ts';
import { type Program, runHeddle, serveHeddle } from '../setup/heddle.ts';
import { type InstalledPackage, installPackage } from '../setup/package.ts';

let installed: InstalledPackage;
let program: Program & { readonly launcher: string };
let home: string;
beforeAll(async () => {
  installed = await installPackage();
  const launcher = join(installed.folder, 'node_modules/heddle/src/heddle.js');
  program = { node: process.execPath, launcher, user: {} };
  home = mkdtempSync(join(tmpdir(), 'heddle-package-home-'));
}, 240_000);
afterAll(async () => {
  await installed[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});

interface Manifest {
  readonly version: string;
  readonly dependencies?: unknown;
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(installed.folder, 'node_modules/heddle/package.json'), 'utf8'));
}

describe('the package', () => {
  test('contains the program and nothing else', () => {
    const others = installed.files.filter((path) => !/^dist\/[\w.-]+\.(js|wasm|data)$/.test(path));
    expect(others.sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist/THIRD-PARTY-LICENSES.txt',
      'package.json',
      'src/heddle.js',
    ]);
  });

  test('has no dependencies, so that it installs without a registry and runs what was tested', () => {
    expect(manifest().dependencies).toBeUndefined();
    const folder = join(installed.folder, 'node_modules/heddle/dist');
    const texts = installed.files.filter((path) => path.endsWith('.js') && path.startsWith('dist/'));
    const imported = texts.flatMap((path) => {
      const text = readFileSync(join(folder, path.slice('dist/'.length)), 'utf8');
      return [...text.matchAll(/^(?:import|export)\b[^'"\n]*? from ["']([^"'\n]+)["'];?$/gm)].map(
        ([, from = '']) => from,
      );
    });
    expect(imported.length).toBeGreaterThan(100);
    expect(imported.filter((from) => !/^(node:|\.\/)/.test(from) && !isBuiltin(from))).toEqual([]);
  });

  // The last two commands loaded 80 files each, with a schema compiler and twice the bytes. They then took 5 times as
  // long as a Node that does nothing, and take less than 4 times as long now.
  test.each([
    { words: ['version'], files: 8, bytes: 100_000 },
    { words: ['fmt', '--check', 'examples/quickstart'], files: 12, bytes: 950_000 },
    { words: ['validate', 'examples/quickstart'], files: 15, bytes: 1_250_000 },
  ])('loads few files for `heddle $words.0`, so that it starts fast', ({ words, files, bytes }) => {
    const list = join(home, `loaded-by-${words[0]}`);
    const hook = `
      import { registerHooks } from 'node:module';
      import { appendFileSync } from 'node:fs';
      registerHooks({ load(url, context, next) {
        const loaded = next(url, context);
        if (url.includes('/dist/')) appendFileSync(${JSON.stringify(list)}, loaded.source.length + '\\n');
        return loaded;
      } });`;
    const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
    execFileSync(program.node, ['--import', preload, program.launcher, ...words], { stdio: 'ignore' });
    const sizes = readFileSync(list, 'utf8').trim().split('\n').map(Number);
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.length).toBeLessThanOrEqual(files);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(bytes);
  });

  test('contains the licences of the packages in it', () => {
    const notices = readFileSync(join(installed.folder, 'node_modules/heddle/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['fastify', '@electric-sql/pglite', 'pg', 'yaml'])
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
    expect(notices).toContain('Permission is hereby granted');
  });

  test('starts with a file that an old Node can parse, so that it can report what is missing', () => {
    const text = readFileSync(program.launcher, 'utf8');
    const lowered = (target: string) => transformSync('heddle.js', text, { target }).code;
    expect(lowered('es2020')).toBe(lowered('esnext'));
  });

  test('runs by `npx heddle` while the registry is down', async () => {
    const { stdout } = await installed.npm('exec', '--', 'heddle', 'version');
    expect(stdout).toBe(`heddle ${manifest().version} (Node ${process.versions.node})\n`);
  });

  test('reports in one sentence that it was packed without its build', async () => {
    const folder = join(home, 'unbuilt/node_modules/heddle/src');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'heddle.js'), readFileSync(program.launcher, 'utf8'));
    writeFileSync(join(folder, '../package.json'), '{ "type": "module" }');
    const run = await runHeddle(['version'], { program: { ...program, launcher: join(folder, 'heddle.js') } });
    expect(run).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^This package of Heddle .*npm run build.*\.\n$/),
    });
  });
});

describe('the package in a pipeline', () => {
  const documents = 'examples/ci/gitops/documents';

  test('is installed as the command `heddle` by the GitHub Action', () => {
    const { runs, inputs } = parse(readFileSync('examples/ci/github-action/action.yml', 'utf8'));
    expect(Object.keys(inputs)).toEqual(['package']);
    const [script] = runs.steps.flatMap((step: { readonly run?: string }) => step.run ?? []);
    expect(shell(script)).toContain(`heddle ${manifest().version} (Node `);
  });

  test('validates documents by the GitLab component, which calls only commands that exist', () => {
    const text = readFileSync('examples/ci/gitlab-component/templates/heddle.yml', 'utf8');
    const [spec, jobs] = parseAllDocuments(text).map((part) => part.toJS());
    const values: Readonly<Record<string, string>> = {
      ...{ package: installed.archive, source: 'office', directory: documents, stage: 'test' },
    };
    expect(Object.keys(spec.spec.inputs).sort()).toEqual(Object.keys(values).sort());
    const filled = (lines: readonly string[]) =>
      lines.join('\n').replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name) => values[name] ?? '');
    const script = filled([...jobs['.heddle'].before_script, ...jobs['heddle-validate'].script]);
    expect(shell(script)).toMatch(/documents in \d+ files are valid/);
    const calls = heddleCalls(filled(jobs['heddle-plan'].script));
    expect(calls.length).toBe(1);
    expect(calls.map(callFault)).toEqual([undefined]);
  });
});

describe.each(['github', 'gitlab'])('the pipeline that `heddle init --ci %s` writes', (system) => {
  /** Returns the script of a job, after the script that all jobs share. */
  function scriptOf(pipeline: Pipeline, job: string): string {
    const { steps = [], script = [] } = (pipeline.jobs ?? pipeline)[job] ?? {};
    const lines = [...(pipeline.default?.before_script ?? []), ...script, ...steps.flatMap(({ run }) => run ?? [])];
    return lines.join('\n');
  }

  test('validates, plans and applies with the package, without an image', async () => {
    const top = mkdtempSync(join(home, 'repository-'));
    mkdirSync(join(top, '.git'));
    const made = await runHeddle(['init', 'mesh', '--ci', system], { program, cwd: top });
    expect(made.code).toBe(0);
    const path = system === 'github' ? '.github/workflows/heddle.yaml' : '.gitlab-ci.yml';
    const pipeline = parse(readFileSync(join(top, path), 'utf8')) as Pipeline;
    await using server = await serveHeddle([], { program, cwd: top });
    const env = {
      ...{ HEDDLE_SERVER: server.url, HEDDLE_TOKEN: readFileSync(join(top, '.heddle/token'), 'utf8').trim() },
      GITHUB_STEP_SUMMARY: join(top, 'summary'),
    };
    const run = (job: string) => shell(scriptOf(pipeline, job), { cwd: top, more: env });
    run('validate');
    expect(run('plan')).toContain('engineering-to-servers');
    expect(run('apply')).toContain('Applied as revision');
    expect(await server.stop()).toBe(0);
  }, 120_000);
});

describe('the installed program', () => {
  test('validates, serves on the embedded database and applies documents, also in its worker threads', async () => {
    const documents = join(home, 'documents');
    mkdirSync(documents);
    writeFileSync(join(documents, 'groups.yaml'), group('visitors'));
    const valid = await runHeddle(['validate', documents], { program, cwd: home });
    expect(valid).toMatchObject({ code: 0, out: expect.stringContaining('1 document') });
    await using server = await serveHeddle(['--source', documents], { program, cwd: home });
    await server.line(/created Group visitors/);
    const env = { HEDDLE_TOKEN: readFileSync(join(home, '.heddle/token'), 'utf8').trim(), HEDDLE_SERVER: server.url };
    writeFileSync(join(home, 'more.yaml'), group('contractors'));
    const applied = await runHeddle(['apply', 'more.yaml', '--source-name', 'more', '--auto-approve'], {
      ...{ program, env, cwd: home },
    });
    expect(applied).toMatchObject({ code: 0, out: expect.stringContaining('Applied as revision') });
    expect(await server.stop()).toBe(0);
  }, 120_000);

  test('reports which address is taken, and how to choose another one', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo; // it listens on a port
    const { code, err } = await runHeddle(['serve', '--listen', `127.0.0.1:${port}`], { program, cwd: home });
    other.close();
    expect([code, err]).toEqual([1, expect.stringMatching(/ is in use by another program; .* --listen/)]);
  });

  test('reports that it may not write to the data directory, and how to choose another one', async () => {
    const closed = join(home, 'closed');
    mkdirSync(closed, { mode: 0o555 });
    chmodSync(home, 0o755);
    // The Node of the repository may be in a folder that another user cannot read.
    const node = join(home, 'node');
    copyFileSync(process.execPath, node);
    const user = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
    const outsider = { node, launcher: program.launcher, user };
    const { code, err } = await runHeddle(['serve', '--listen', '127.0.0.1:0'], { program: outsider, cwd: closed });
    expect([code, err]).toEqual([1, expect.stringMatching(/\.heddle is not writable; .* --data-dir/)]);
  });
});

/** Working directory of a script, and additional variables. */
interface ShellOptions {
  readonly cwd?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** A pipeline. Its jobs are listed under `jobs` (GitHub), or next to its settings (GitLab). */
type Pipeline = {
  readonly default?: { readonly before_script: readonly string[] };
  readonly jobs?: Readonly<Record<string, Job>>;
} & Readonly<Record<string, Job>>;

interface Job {
  readonly steps?: readonly { readonly run?: string }[];
  readonly script?: readonly string[];
}

/** Runs a script with a separate folder for global installations. */
function shell(script: string, { cwd = process.cwd(), more = {} }: ShellOptions = {}): string {
  const prefix = mkdtempSync(join(home, 'global-'));
  const { PATH } = installed.env;
  const env = {
    ...installed.env,
    ...{ PACKAGE: installed.archive, HEDDLE_PACKAGE: installed.archive },
    ...more,
    npm_config_prefix: prefix,
    PATH: `${prefix}/bin:${PATH}`,
  };
  return execFileSync('bash', ['-euo', 'pipefail', '-c', script], { env, cwd, encoding: 'utf8', stdio: 'pipe' });
}

function isBuiltin(name: string): boolean {
  return process.getBuiltinModule(name) !== undefined;
}

function group(key: string): string {
  return `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ${key}\n`;
}
