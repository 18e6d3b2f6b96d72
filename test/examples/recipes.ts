import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** A job of a pipeline, reduced to the members that the tests use. */
export interface Job {
  readonly name: string;
  /** Scripts of the job, one for each step. */
  readonly scripts: readonly string[];
  /**
   * How the command is installed before the first script that calls it: the reference of an action with its package, or
   * scripts.
   */
  readonly prepared: readonly string[];
  readonly needs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const folder = new URL('../../examples/ci/', import.meta.url);

/** Returns the text of a file of `examples/ci`. */
export function recipeText(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, folder)), 'utf8');
}

/** Returns the jobs of the recipe for GitHub Actions. */
export function githubJobs(): readonly Job[] {
  const { jobs, env: all } = parse(recipeText('github-actions.yaml')) as GithubFile;
  return Object.entries(jobs).map(([name, { steps, needs = [], env = {} }]) => ({
    name,
    scripts: steps.flatMap(({ run }) => (run === undefined ? [] : [run])),
    prepared: steps
      .slice(
        0,
        Math.max(
          0,
          steps.findIndex(({ run = '' }) => /^ *heddle /m.test(run)),
        ),
      )
      .flatMap(({ uses, with: inputs = {} }) =>
        inputs['package'] === undefined ? [] : [`${uses} ${inputs['package']}`],
      ),
    needs: [needs].flat(),
    env: { ...all, ...env },
  }));
}

/** Returns the jobs of the recipe for GitLab, without the templates, whose names begin with a dot. */
export function gitlabJobs(): readonly Job[] {
  const { stages: _, variables: all, ...jobs } = parse(recipeText('gitlab-ci.yaml')) as GitlabFile;
  return Object.entries(jobs).flatMap(([name, { script = [], needs = [], variables = {}, extends: base = '' }]) => {
    // A job inherits the `before_script` of the template that it extends, or of the template that this template
    // extends.
    const { before_script: prepared = [] } = jobs[jobs[base]?.extends ?? base] ?? {};
    const env = { ...all, ...variables };
    return name.startsWith('.') ? [] : [{ name, scripts: [script.join('\n')], prepared, needs, env }];
  });
}

interface GithubFile {
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, GithubJob>>;
}

interface GithubJob {
  readonly needs?: string | readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
}

type GitlabFile = {
  readonly stages: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
} & Readonly<Record<string, GitlabJob>>;

interface GitlabJob {
  readonly script?: readonly string[];
  readonly before_script?: readonly string[];
  readonly extends?: string;
  readonly needs?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}
