import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { trackProcess } from '../setup/processes.ts';

/** Separates the outputs of two commands. */
const separator = '\u001e';

/** A shell that runs one command after the other and keeps its variables, like the shell of a reader. */
export interface Shell extends AsyncDisposable {
  /** Runs a command and returns all its output. */
  run(command: string): Promise<string>;
}

/** What a reader has in addition to the program. */
interface ShellOptions {
  /** Folders of additional programs. */
  readonly programs?: readonly string[];
  /** Path of the kubeconfig that kubectl uses. */
  readonly kubeconfig?: string;
}

/**
 * Opens a shell in a directory. In it, `npx heddle` is the program of the checkout, and `server` replaces the server of
 * the pages, `localhost:8080`.
 */
export function openShell(
  directory: string,
  launcher: string,
  server: string,
  { programs = [], kubeconfig = '/dev/null' }: ShellOptions = {},
): Shell {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HEDDLE_'));
  const env = {
    ...Object.fromEntries(inherited),
    PATH: [dirname(process.execPath), ...programs, process.env['PATH'] ?? ''].join(':'),
    HEDDLE_SERVER: server,
    KUBECONFIG: kubeconfig,
  };
  const child = trackProcess(spawn('bash', ['--norc'], { cwd: directory, env, stdio: ['pipe', 'pipe', 'inherit'] }));
  child.stdout.setEncoding('utf8');
  let printed = '';
  child.stdout.on('data', (text: string) => {
    printed += text;
  });
  child.stdin.write(`exec 2>&1
    npx() { shift; node '${launcher}' "$@" </dev/null; }
    curl() { command curl "\${@//localhost:8080/${new URL(server).host}}" </dev/null; }
  `);
  return {
    async run(command) {
      child.stdin.write(`\n${command}\nprintf '${separator}'\n`);
      while (!printed.includes(separator)) await once(child.stdout, 'data');
      const [output = ''] = printed.split(separator);
      printed = printed.slice(output.length + separator.length);
      return output.replaceAll('\r', '').trim();
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end('exit\n');
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}
