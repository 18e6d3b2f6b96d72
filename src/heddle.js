#!/usr/bin/env node
// The launcher. Plain JavaScript that Node 12 can load, because an older Node cannot even read a .ts file.
import { existsSync, realpathSync } from 'fs';
import * as nodeModule from 'module';
import { dirname, join, sep } from 'path';
import { fileURLToPath, pathToFileURL } from 'url';

const oldest = [24, 7]; // "engines" of package.json; from here on Node hashes passwords with argon2 by itself
const here = dirname(realpathSync(fileURLToPath(import.meta.url)));

if (isRecent(process.versions.node)) {
  nodeModule.enableCompileCache(); // a third of the time of a short command would go into compiling again
  const program = findProgram();
  if (existsSync(program)) import(pathToFileURL(program).href);
  else refuse(`This package of Heddle has no ${program}: run \`npm run build\` in its checkout and pack it again.`);
} else {
  const bundled = findBundledNode();
  if (bundled === undefined) refuse(tooOld());
  else runWith(bundled);
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

/** The source in a checkout; the build in a published package, where Node refuses to strip types. */
function findProgram() {
  const source = join(here, 'main.ts');
  const installed = here.includes(`${sep}node_modules${sep}`);
  return installed || !existsSync(source) ? join(here, '..', 'dist', 'main.js') : source;
}

/** The Node of the optional dependency `node`, unless it is the one that runs already. */
function findBundledNode() {
  try {
    const manifest = nodeModule.createRequire(import.meta.url).resolve('node/package.json');
    const bundled = realpathSync(join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node'));
    return bundled === realpathSync(process.execPath) ? undefined : bundled;
  } catch (_) {
    return undefined;
  }
}

/** Runs this launcher again with another Node, and ends as it ends. */
async function runWith(node) {
  const { spawn } = await import('child_process'); // the Node that fits needs none
  const child = spawn(node, [join(here, 'heddle.js')].concat(process.argv.slice(2)), { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT']) {
    process.on(signal, () => {
      const typed = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT');
      if (!typed) child.kill(signal); // what is typed on a terminal reaches the child by itself
    });
  }
  child.on('error', () => refuse(tooOld()));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function tooOld() {
  return `Heddle needs Node ${oldest.join('.')} or newer, and this is Node ${process.versions.node}: install a newer one from nodejs.org.`;
}

function refuse(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}
