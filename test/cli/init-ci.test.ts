import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { callFault, heddleCalls } from '../setup/command-lines.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHere, runIn } from './collect.ts';

/** The members of a job that the tests read. */
interface Job {
  readonly env?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly run?: string; readonly uses?: string }[];
  readonly script?: readonly string[];
}

/** A pipeline. Its jobs are listed under `jobs` (GitHub), or next to its settings (GitLab). */
interface Pipeline {
  readonly jobs?: Readonly<Record<string, Job>>;
  readonly permissions?: unknown;
  readonly validate?: Job;
  readonly plan?: Job;
  readonly apply?: Job;
}

const systems = [
  ['github', '.github/workflows/heddle.yaml'],
  ['gitlab', '.gitlab-ci.yml'],
] as const;

/**
 * Creates a Git repository with documents in one of its directories, and a pipeline. Returns the jobs of the pipeline.
 */
async function repository(system: string, path: string, name: string) {
  const top = await temporaryDirectory();
  await mkdir(join(top, '.git'));
  const { code, out } = await runHere(['init', join(top, name), '--source-name', 'mesh', '--ci', system]);
  expect([code, out]).toEqual([0, expect.stringContaining(`wrote ${join(top, path)}`)]);
  const pipeline = parse(await readFile(join(top, path), 'utf8')) as Pipeline;
  const { validate, plan, apply } = pipeline.jobs ?? pipeline;
  if (validate === undefined || plan === undefined || apply === undefined) throw new Error('the pipeline lacks a job');
  return { top, pipeline, validate, plan, apply };
}

const scriptsOf = ({ steps = [], script = [] }: Job) => [...script, ...steps.flatMap(({ run }) => run ?? [])];

describe.each(systems)('the pipeline that heddle init --ci %s writes', (system, path) => {
  it.each([
    ['a directory of the repository', 'mesh', 'mesh'],
    ['a directory with a space', 'our mesh', "'our mesh'"],
    ['the repository itself', '.', '.'],
  ])('validates, plans and applies %s, by commands that exist', async (_, name, word) => {
    const { top, validate, plan, apply } = await repository(system, path, name);
    const calls = [validate, plan, apply].flatMap(scriptsOf).flatMap(heddleCalls);
    expect(calls.map(callFault).filter((fault) => fault !== undefined)).toEqual([]);
    expect(scriptsOf(validate).join('\n')).toContain(`heddle validate ${word} --format`);
    expect(scriptsOf(plan).join('\n')).toContain(`heddle plan ${word}`);
    expect(scriptsOf(apply).join('\n')).toContain(`heddle apply ${word} --auto-approve`);
    const { code, out } = await runIn(top, ['validate', name, '--strict-files']);
    expect([code, out]).toEqual([0, '3 documents in 2 files are valid.\n']);
  });

  it('has a read-only token in the plan job, a writing token only on the main branch, and no other', async () => {
    const { pipeline, validate, plan, apply } = await repository(system, path, 'mesh');
    const variables = ({ env, variables: own }: Job) => ({ ...env, ...own });
    expect(variables(validate)).toEqual({});
    expect(variables(plan)).toEqual({
      HEDDLE_TOKEN: system === 'github' ? `\${{ secrets.HEDDLE_PLAN_TOKEN }}` : '$HEDDLE_PLAN_TOKEN',
    });
    expect(apply).toMatchObject({
      environment: 'mesh',
      ...(system === 'github'
        ? { if: "github.event_name == 'push'", env: { HEDDLE_TOKEN: `\${{ secrets.HEDDLE_APPLY_TOKEN }}` } }
        : {
            rules: [{ if: '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH' }],
            variables: { HEDDLE_TOKEN: '$HEDDLE_APPLY_TOKEN' },
          }),
    });
    expect(pipeline.permissions).toEqual(system === 'github' ? { contents: 'read' } : undefined);
    const actions = [validate, plan, apply].flatMap(({ steps = [] }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(new Set(actions)).toEqual(
      new Set(system === 'github' ? ['actions/checkout@v4', 'actions/setup-node@v4'] : []),
    );
  });
});

it('heddle init writes no pipeline with --ci none, and refuses unknown systems', async () => {
  const directory = join(await temporaryDirectory(), 'mesh');
  expect((await runHere(['init', directory, '--ci', 'none'])).out).not.toMatch(/github|gitlab/);
  const { code, note } = await runHere(['init', directory, '--ci', 'jenkins']);
  expect([code, note]).toEqual([1, expect.stringContaining('--ci is `jenkins`; write github, gitlab or none')]);
});
