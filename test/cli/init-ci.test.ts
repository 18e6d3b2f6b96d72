import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { callFault, heddleCalls } from '../setup/command-lines.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHeddle } from '../setup/heddle.ts';
import { runHere } from './collect.ts';

/** A job, as far as it matters here. */
interface Job {
  readonly env?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly run?: string; readonly uses?: string }[];
  readonly script?: readonly string[];
}

/** A pipeline whose jobs stand under `jobs` (GitHub), or beside its settings (GitLab). */
interface Pipeline {
  readonly jobs?: Readonly<Record<string, Job>>;
  readonly permissions?: unknown;
  readonly validate?: Job;
  readonly plan?: Job;
}

const systems = [
  ['github', '.github/workflows/heddle.yaml'],
  ['gitlab', '.gitlab-ci.yml'],
] as const;

/** A Git repository with documents in a directory of it, and its pipeline. */
async function repository(system: string, path: string, name: string) {
  const top = await temporaryDirectory();
  await mkdir(join(top, '.git'));
  const { code, out } = await runHere(['init', join(top, name), '--source-name', 'mesh', '--ci', system]);
  expect([code, out]).toEqual([0, expect.stringContaining(`wrote ${join(top, path)}`)]);
  const pipeline = parse(await readFile(join(top, path), 'utf8')) as Pipeline;
  const { validate, plan } = pipeline.jobs ?? pipeline;
  if (validate === undefined || plan === undefined) throw new Error('the pipeline lacks a job');
  return { top, pipeline, validate, plan };
}

const scriptsOf = ({ steps = [], script = [] }: Job) => [...script, ...steps.flatMap(({ run }) => run ?? [])];

describe.each(systems)('the pipeline that heddle init --ci %s writes', (system, path) => {
  it.each([
    ['a directory of the repository', 'mesh', 'mesh'],
    ['a directory with a space', 'our mesh', "'our mesh'"],
    ['the repository itself', '.', '.'],
  ])('validates and plans %s, by commands that exist', async (_, name, word) => {
    const { top, validate, plan } = await repository(system, path, name);
    const calls = [validate, plan].flatMap(scriptsOf).flatMap(heddleCalls);
    expect(calls.map(callFault).filter((fault) => fault !== undefined)).toEqual([]);
    expect(scriptsOf(validate).join('\n')).toContain(`heddle validate ${word} --format`);
    expect(scriptsOf(plan).join('\n')).toContain(`heddle plan ${word}`);
    const { code, out } = await runHeddle(['validate', name, '--strict-files'], { cwd: top });
    expect([code, out]).toEqual([0, '1 document in 1 file is valid.\n']);
  });

  it('has a token where it plans and nowhere else, which is a secret, and no right to write', async () => {
    const { pipeline, validate, plan } = await repository(system, path, 'mesh');
    const variables = ({ env, variables: own }: Job) => ({ ...env, ...own });
    expect(variables(validate)).toEqual({});
    expect(variables(plan)).toEqual({
      HEDDLE_TOKEN: system === 'github' ? `\${{ secrets.HEDDLE_PLAN_TOKEN }}` : '$HEDDLE_PLAN_TOKEN',
    });
    expect(pipeline.permissions).toEqual(system === 'github' ? { contents: 'read' } : undefined);
    const actions = [validate, plan].flatMap(({ steps = [] }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(new Set(actions)).toEqual(new Set(system === 'github' ? ['actions/checkout@v4'] : []));
  });
});

it('heddle init writes no pipeline unless one is asked for, and refuses systems that it does not know', async () => {
  const directory = join(await temporaryDirectory(), 'mesh');
  expect((await runHere(['init', directory, '--ci', 'none'])).out).not.toMatch(/github|gitlab/);
  const { code, note } = await runHere(['init', directory, '--ci', 'jenkins']);
  expect([code, note]).toEqual([1, expect.stringContaining('--ci is `jenkins`; write github, gitlab or none')]);
});
