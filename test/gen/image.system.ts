import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settings } from '../../src/config.ts';
import { type Manifest, only, render } from '../charts/render.ts';
import { environmentOf } from '../charts/shape.ts';
import { callFault } from '../setup/command-lines.ts';
import { runHeddle, serveHeddle } from '../setup/heddle.ts';
import { type Image, makeImage } from '../setup/image.ts';

let image: Image;
beforeAll(() => {
  image = makeImage();
}, 120_000);
afterAll(() => image[Symbol.dispose]());

const version = (JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }).version;

/** Returns the instructions of the Dockerfile, each on one line. */
function instructions(): readonly string[] {
  const text = readFileSync(join(image.context, 'Dockerfile'), 'utf8');
  const lines = text.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  return lines.split('\n').filter((line) => line.trim() !== '');
}

function operandOf(instruction: string): string {
  return (
    instructions()
      .findLast((line) => line.startsWith(`${instruction} `))
      ?.slice(instruction.length + 1) ?? ''
  );
}

describe('the build context of the image', () => {
  test('contains what the Dockerfile copies, and nothing else', () => {
    const copied = instructions()
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.filter((path) => !existsSync(join(image.context, path)))).toEqual([]);
    expect(readdirSync(image.context).sort()).toEqual([...new Set([...copied, 'Dockerfile', '.dockerignore'])].sort());
    const sent = readFileSync(join(image.context, '.dockerignore'), 'utf8').match(/(?<=^!).*$/gm);
    expect(sent?.sort()).toEqual([...new Set(copied)].sort());
  });

  test('names the versions of this checkout', () => {
    expect(instructions()).toContain(`ARG HEDDLE_VERSION=${version}`);
    expect(instructions()).toContain(`ARG NODE_VERSION=${process.versions.node}`);
  });

  test('makes an image that runs unprivileged, with settings and a health check that exist', () => {
    expect(operandOf('USER')).toBe('1000:1000');
    expect(operandOf('ENTRYPOINT')).toBe('["node", "/app/src/heddle.js"]');
    const [, check = ''] = /CMD (\[.*\])/.exec(operandOf('HEALTHCHECK')) ?? [];
    for (const words of [JSON.parse(check).slice(2), JSON.parse(operandOf('CMD'))])
      expect(callFault(words)).toBeUndefined();
    const variables = [...operandOf('ENV').matchAll(/(HEDDLE_\w+)=/g)].map(([, name]) => name);
    expect(variables.length).toBeGreaterThan(0);
    const known = Object.values(settings).map((setting) => setting.variable);
    expect(variables.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the program of the image, run by an unprivileged user in a read-only directory', () => {
  test('prints its version', async () => {
    const { code, out } = await runHeddle(['version'], { program: image.program, cwd: '/' });
    expect({ code, out }).toEqual({ code: 0, out: `heddle ${version} (Node ${process.versions.node})\n` });
  });

  test('serves on the embedded database with the settings of the chart, and reports that it is healthy', async () => {
    const { program } = image;
    const env = await environmentOfPod(image.directory());
    await using server = await serveHeddle([], { program, env, cwd: '/' });
    await server.line(/source office: 1 documents?, revision/);
    const health = await runHeddle(['health', '--server', server.url], { program, cwd: '/' });
    expect(health).toMatchObject({ code: 0, err: '' });
    const token = readFileSync(env['HEDDLE_BOOTSTRAP_TOKEN_FILE'] ?? '', 'utf8');
    const status = await runHeddle(['status', '--server', server.url, '--token', token], { program, cwd: '/' });
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining('office') });
    expect(await server.stop()).toBe(0);
  }, 120_000);
});

/**
 * Returns the variables that the chart gives to a pod, and writes the files of the pod below `directory` instead of the
 * root.
 */
async function environmentOfPod(directory: string): Promise<Readonly<Record<string, string>>> {
  const manifests = await render({ values: ['embedded'] });
  writeFiles(join(directory, 'etc/heddle/config'), textsOf(only(manifests, 'ConfigMap', '-config')));
  const secrets = Object.entries(textsOf(only(manifests, 'Secret')));
  const opened = secrets.map(([name, text]) => [name, Buffer.from(text, 'base64').toString()]);
  writeFiles(join(directory, 'etc/heddle/secrets'), Object.fromEntries(opened));
  const variables = Object.entries(environmentOf(manifests));
  return Object.fromEntries(variables.map(([name, value]) => [name, value.replace(/(?<=^|=)(?=\/)/, directory)]));
}

function textsOf(manifest: Manifest): Readonly<Record<string, string>> {
  // ConfigMaps and Secrets contain texts by name.
  return manifest['data'] as Readonly<Record<string, string>>;
}

function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}
