import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { programFolders } from '../charts/helm.ts';
import { patternOf, stepsOf } from '../docs/blocks.ts';
import { pages } from '../docs/pages.ts';
import { openShell, type Shell } from '../docs/shell.ts';
import { launcherPath } from '../setup/bundle.ts';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

/** A server in a separate process that reads a cluster, and a shell of an administrator of both. */
export interface Mesh {
  readonly directory: string;
  readonly shell: Shell;
  readonly server: ServedHeddle;
  /** Sends a GET request to the server with its owner's token. */
  get<Answer>(path: string): Promise<Answer>;
  /** Returns the ids of all objects that have a key, by `kind/key`. */
  ids(): Promise<Readonly<Record<string, string>>>;
}

/**
 * Starts a server and opens a shell. `sources` are the sources of the server's configuration. Their paths are relative
 * to the server's directory, into which `files` are written.
 */
export async function openMesh(
  kubeconfig: string,
  sources: readonly object[],
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Mesh> {
  const directory = await temporaryDirectory();
  for (const [path, text] of Object.entries({ ...files, 'server.yaml': stringify({ sources }) })) {
    await mkdir(join(directory, path, '..'), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  await copyEmbedded(join(directory, '.heddle'));
  const server = await serveHeddle(['--config', 'server.yaml'], { cwd: directory, env });
  const shell = openShell(directory, launcherPath(), server.url, { programs: programFolders(), kubeconfig });
  onTestFinished(async () => {
    await shell[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  const token = (await readFile(join(directory, '.heddle/token'), 'utf8')).trim();
  const get = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Token ${token}` } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    // The caller states the type; it is the documented one.
    return (await answer.json()) as Answer;
  };
  return {
    ...{ directory, shell, server, get },
    async ids() {
      const { objects } = await get<{ readonly objects: readonly Listed[] }>('/api/config/objects');
      const keyed = objects.flatMap(({ kind, key, id }) =>
        key === undefined ? [] : [[`${kind}/${key}`, id] as const],
      );
      return Object.fromEntries(keyed);
    },
  };
}

interface Listed {
  readonly kind: string;
  readonly key?: string;
  readonly id: string;
}

/** Runs the commands in a section of a page. Returns the commands whose output differs from what the page shows. */
export async function followSection(path: string, heading: string, shell: Shell): Promise<readonly object[]> {
  const page = pages.find((one) => one.path === path);
  const [, section = ''] = page?.text.split(`\n## ${heading}\n`) ?? [];
  const text = section.split('\n## ')[0]?.replaceAll(/<!-- run by .*? -->\n/g, '') ?? '';
  const differences: object[] = [];
  for (const step of stepsOf({ path, text })) {
    if (step.type !== 'commands') throw new Error(`${path} has a step of another type in ${heading}`);
    for (const { command, output } of step.shown) {
      const printed = await shell.run(command);
      const failed = /^(?:error|bash|Error from server)/m.test(printed);
      if (failed || !patternOf(output).test(printed)) differences.push({ command, shown: output, printed });
    }
  }
  return differences;
}
