import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launcherPath } from '../setup/bundle.ts';
import { callFault, heddleCalls } from '../setup/command-lines.ts';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { githubJobs, gitlabJobs, type Job, recipeText } from './recipes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const recipes = [
  ['GitHub Actions', 'github-actions.yaml', githubJobs()],
  ['GitLab', 'gitlab-ci.yaml', gitlabJobs()],
] as const;

/** How the GitHub action is used, according to its example, and how the GitLab component installs the package. */
const action = /uses: (\S+\/heddle-action\S*)\n/.exec(recipeText('github-action/action.yml'))?.[1];
const installation = /- (npm install .*) "\$\[\[/.exec(recipeText('gitlab-component/templates/heddle.yml'))?.[1];
const fromPackage: Readonly<Record<string, string>> = {
  'github-actions.yaml': `${action} \${{ vars.HEDDLE_PACKAGE }}`,
  'gitlab-ci.yaml': `${installation} "$HEDDLE_PACKAGE"`,
};

describe.each(recipes)('the recipe for %s', (_, file, jobs) => {
  test('calls only heddle commands and flags that exist', () => {
    const calls = jobs.flatMap(({ scripts }) => scripts.flatMap(heddleCalls));
    const mentioned = [...recipeText(file).matchAll(/`heddle ([^`]+)`/g)].map(([, words = '']) => words.split(' '));
    expect(calls.length).toBeGreaterThan(4);
    expect([...calls, ...mentioned].map(callFault).filter((fault) => fault !== undefined)).toEqual([]);
  });

  test('installs the command from the package, as the action or component does, in each job that calls it', () => {
    const calling = jobs.filter(({ scripts }) => scripts.some((script) => heddleCalls(script).length > 0));
    expect(calling.length).toBeGreaterThan(3);
    for (const { name, prepared } of calling) expect(prepared, name).toEqual([fromPackage[file]]);
  });

  test('waits only for jobs that exist', () => {
    const names = jobs.map(({ name }) => name);
    expect(jobs.flatMap(({ needs }) => needs).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('gives the apply token only to the jobs that apply', () => {
    const trusted = jobs.filter(({ env }) => Object.values(env).some((value) => value.includes('HEDDLE_APPLY_TOKEN')));
    const applying = jobs.filter(({ scripts }) => scripts.some((script) => /heddle (apply|approve)/.test(script)));
    expect(trusted.map(({ name }) => name)).toEqual(
      applying.flatMap(({ name, env }) => (env['HEDDLE_TOKEN'] ? [name] : [])),
    );
    const inherited = applying.filter(({ env }) => env['HEDDLE_TOKEN'] === undefined).map(({ name }) => name);
    expect(inherited.filter((name) => name !== 'approve')).toEqual([]);
  });
});

describe.each(recipes)('the recipe for %s, run against a server', (_, __, jobs) => {
  let server: ServedHeddle;
  let directory: string;
  let tokens: { readonly apply: string; readonly plan: string };
  beforeAll(async () => {
    directory = await temporaryDirectory();
    await copyEmbedded(join(directory, 'data'));
    server = await serveHeddle(['--data-dir', join(directory, 'data')]);
    const apply = readFileSync(join(directory, 'data/token'), 'utf8').trim();
    tokens = { apply, plan: await makePlanToken(server.url, apply) };
    mkdirSync(join(directory, 'bin'));
    const options = { mode: 0o755 };
    writeFileSync(
      join(directory, 'bin/heddle'),
      `#!/bin/sh\nexec "${process.execPath}" "${launcherPath()}" "$@"\n`,
      options,
    );
    cpSync(join(root, 'examples/ci/gitops/documents'), join(directory, 'config'), { recursive: true });
  });
  afterAll(() => server.stop());

  /** Runs the scripts of a job that call heddle, as the pipeline does: line by line until one fails. */
  async function runJob(name: string): Promise<{ code: number | null; out: string }> {
    const job = jobs.find((candidate) => candidate.name === name);
    if (job === undefined) throw new Error(`there is no job ${name}`);
    const isTrusted = job.env['HEDDLE_TOKEN']?.includes('HEDDLE_PLAN_TOKEN') !== true;
    const env = {
      ...{ PATH: `${join(directory, 'bin')}:${process.env['PATH']}`, SOURCE: 'office', PLAN: plannedId() },
      ...{ HEDDLE_SERVER: server.url, HEDDLE_TOKEN: isTrusted ? tokens.apply : tokens.plan },
    };
    return shell(scriptOf(job), { cwd: directory, env });
  }

  /** Returns the plan id that a reviewer reads in the log. The job before wrote it to its file. */
  function plannedId(): string {
    return /"plan": "(\w+)"/.exec(readText(join(directory, 'plan.json')))?.[1] ?? '';
  }

  const reviewing = jobs.some(({ name }) => name === 'review') ? 'review' : 'plan';
  const group = (key: string) => `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ${key}\n`;
  const many = () => join(directory, 'config/many.yaml');

  test('validates, plans, and applies the reviewed plan', async () => {
    expect((await runJob('validate')).code).toBe(0);
    expect(await runJob('plan')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^### Plan for `office`: .*developers/s),
    });
    expect((await runJob(reviewing)).code).toBe(0);
    expect(await runJob('apply')).toMatchObject({ code: 0, out: expect.stringContaining('Applied') });
    expect((await runJob('plan')).out).toMatch(/no changes/i);
  });

  test('applies nothing with the plan-only token', async () => {
    writeFileSync(many(), group('planned'));
    await runJob(reviewing);
    const env = {
      HEDDLE_SERVER: server.url,
      HEDDLE_TOKEN: tokens.plan,
      PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
    };
    const { code, out } = await shell('heddle apply plan.json --auto-approve', { cwd: directory, env });
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('the token may only read and plan; use another token to write'),
    ]);
    rmSync(many());
  });

  test('exits with 4 when the account has changed since the review', async () => {
    writeFileSync(many(), group('reviewed'));
    await runJob(reviewing);
    const early = readText(join(directory, 'plan.json'));
    expect((await runJob('apply')).code).toBe(0);
    writeFileSync(join(directory, 'plan.json'), early);
    expect((await runJob('apply')).code).toBe(4);
  });

  test('fails to validate invalid documents, with file and line', async () => {
    const path = join(directory, 'config/groups.yaml');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('name: Databases', 'nam: Databases'));
    const { code, out } = await runJob('validate');
    writeFileSync(path, text);
    expect(code).toBe(5);
    expect(out + readText(join(directory, 'validate.json'))).toMatch(/config\/groups\.yaml(,line=|:)\d+/);
  });

  test('shows a plan that a guard stops, does not apply it, and applies it after the approval', async () => {
    writeFileSync(many(), Array.from({ length: 12 }, (_, index) => group(`team-${index}`)).join('---\n'));
    await runJob(reviewing);
    expect((await runJob('apply')).code).toBe(0);
    writeFileSync(many(), group('team-0'));
    expect(await runJob('plan')).toMatchObject({ code: 0, out: expect.stringContaining('heddle approve') });
    await runJob(reviewing);
    expect((await runJob('apply')).code).toBe(3);
    expect((await runJob('approve')).code).toBe(0);
    expect((await runJob('plan')).out).toMatch(/no changes/i);
  });
});

/** Creates a service user and returns a token that only allows plans. */
async function makePlanToken(url: string, owner: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Token ${owner}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    // The members that the test reads are strings.
    return (await answer.json()) as Readonly<Record<string, string>>;
  };
  const user = await post('/api/users', { name: 'ci', role: 'admin', auto_groups: [], is_service_user: true });
  const made = await post(`/api/users/${user['id']}/tokens`, { name: 'plans', expires_in: 1, plan_only: true });
  return made['plain_token'] ?? '';
}

/**
 * Returns the scripts of a job that call heddle. The platform installs the command and notifies people, so other
 * scripts are left out.
 */
function scriptOf({ scripts }: Job): string {
  return scripts.filter((script) => heddleCalls(script).length > 0).join('\n');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The job printed nothing, so it left no file.
    return '';
  }
}

function shell(
  script: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const child = execFile('bash', ['-e', '-o', 'pipefail', '-c', script], options, (_error, out, err) =>
      resolve({ code: child.exitCode, out: `${out}${err}` }),
    );
  });
}
