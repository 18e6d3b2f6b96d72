import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

// `npm run walk`: lists the files of `src` that a request to a warm server runs through, with the functions that run.
// `npm run walk -- DIR` uses another checkout. A file is listed when one of its functions runs during each of five
// requests, which excludes timers that fire between requests.

const checkout = resolve(process.argv[2] ?? '.');
const source = pathToFileURL(join(checkout, 'src/')).href;
const rounds = 5;

/** A server with an inspector, in a separate process. */
interface Served {
  readonly url: string;
  readonly inspector: string;
  readonly token: string;
  stop(): Promise<void>;
}

async function serve(): Promise<Served> {
  const data = await mkdtemp(join(tmpdir(), 'heddle-walk-'));
  const args = ['--inspect=127.0.0.1:0', join(checkout, 'src/heddle.js'), 'serve', '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, [...args, '--data-dir', data], { cwd: checkout });
  const lines: string[] = [];
  const find = (pattern: RegExp) =>
    new Promise<string>((found, failed) => {
      const look = (line: string) => {
        const [, value] = pattern.exec(line) ?? [];
        if (value !== undefined) found(value);
      };
      lines.forEach(look);
      for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on('line', (line) => {
          lines.push(line);
          look(line);
        });
      child.once('exit', () => failed(new Error(lines.join('\n'))));
    });
  const [inspector, url] = await Promise.all([find(/Debugger listening on (ws:\S+)/), find(/ serves (http[^\s"]+)/)]);
  const token = (await readFile(join(data, 'token'), 'utf8')).trim();
  const stop = async () => {
    child.kill('SIGKILL');
    await rm(data, { recursive: true, force: true });
  };
  return { url, inspector, token, stop };
}

/** The part of the inspector's coverage result that is used here. */
interface Covered {
  readonly result: readonly { readonly url: string; readonly functions: readonly CoveredFunction[] }[];
}

interface CoveredFunction {
  readonly functionName: string;
  readonly ranges: readonly { readonly count: number }[];
}

/** Opens the inspector and starts the coverage; one request at a time. */
async function openInspector(url: string) {
  const socket = new WebSocket(url);
  await new Promise((open) => socket.addEventListener('open', open));
  let last = 0;
  const ask = (method: string, params = {}) =>
    new Promise<unknown>((answer) => {
      last += 1;
      const id = last;
      const listen = ({ data }: MessageEvent) => {
        const message = JSON.parse(String(data));
        if (message.id !== id) return;
        socket.removeEventListener('message', listen);
        answer(message.result);
      };
      socket.addEventListener('message', listen);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await ask('Profiler.enable');
  await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return { close: () => socket.close(), take: async () => (await ask('Profiler.takePreciseCoverage')) as Covered };
}

/**
 * Returns the named functions that ran since the last call of `takePreciseCoverage`, by file. The unnamed function that
 * spans a file is the loading of the module.
 */
function functionsIn({ result }: Covered): ReadonlyMap<string, ReadonlySet<string>> {
  const files = result.flatMap(({ url, functions }): [string, Set<string>][] => {
    const ran = functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0);
    if (!url.startsWith(source) || ran.length === 0) return [];
    return [[url.slice(source.length), new Set(ran.map(({ functionName }) => functionName))]];
  });
  return new Map(files);
}

/** Returns the files that every round runs through, with the functions that run in every round. */
async function walk(served: Served, act: (round: number) => Promise<unknown>): Promise<readonly string[]> {
  const inspector = await openInspector(served.inspector);
  await act(0);
  await inspector.take();
  const crossed: ReadonlyMap<string, ReadonlySet<string>>[] = [];
  for (let round = 1; round <= rounds; round++) {
    await act(round);
    crossed.push(functionsIn(await inspector.take()));
  }
  inspector.close();
  const [first = new Map(), ...others] = crossed;
  const common = [...first].filter(([file]) => others.every((files) => files.has(file)));
  return common
    .map(([file, functions]) => {
      const always = [...functions].filter((name) => others.every((files) => files.get(file)?.has(name)));
      return `${file}: ${always.join(', ')}`;
    })
    .sort();
}

/** Returns the number of files in each folder of `src`, in descending order. */
function byFolder(files: readonly string[]): string {
  const folders = Map.groupBy(files, (file) => file.split(/[/:]/, 1)[0] ?? '');
  const counts = [...folders].map(([folder, inside]) => [folder, inside.length] as const).sort(([, a], [, b]) => b - a);
  return counts.map(([folder, count]) => `${folder} ${count}`).join(', ');
}

async function call(served: Served, method: string, path: string, body?: object) {
  const headers = { authorization: `Token ${served.token}`, 'content-type': 'application/json' };
  const response = await fetch(served.url + path, {
    ...{ method, headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}`);
  // Read member by member where the shape is known.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  return (await response.json()) as any;
}

/** Enrols a machine and waits for its first map. Uses the simulated agent of the checkout itself. */
async function enrol(served: Served, key: string, round: number): Promise<void> {
  const args = ['agent', 'simulate', '--setup-key', key, '--name', `machine-${round}`, '--server', served.url];
  const child = spawn(process.execPath, [join(checkout, 'src/heddle.js'), ...args]);
  for await (const line of createInterface(child.stdout)) if (line.includes(': map')) break;
  child.kill('SIGKILL');
}

const served = await serve();
try {
  const [all] = await call(served, 'GET', '/api/groups');
  const rule = { name: 'web', enabled: true, action: 'accept', bidirectional: true, protocol: 'tcp', ports: ['443'] };
  const policy = { enabled: true, rules: [{ ...rule, sources: [all.id], destinations: [all.id] }] };
  const posted = await walk(served, (round) => call(served, 'POST', '/api/policies', { name: `p${round}`, ...policy }));
  const { key } = await call(served, 'POST', '/api/setup-keys', {
    ...{ name: 'walk', type: 'reusable', expires_in: 86_400, auto_groups: [], usage_limit: 0 },
  });
  const enrolled = await walk(served, (round) => enrol(served, key, round));
  for (const [what, files] of [
    ['POST /api/policies', posted],
    ['an enrolment, with the first network map', enrolled],
  ] as const)
    console.log(`${what}: ${files.length} files (${byFolder(files)})\n  ${files.join('\n  ')}`);
} finally {
  await served.stop();
}
