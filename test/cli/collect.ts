import { runProgram } from '../../src/cli/program.ts';
import type { StartServer } from '../../src/cli/server/serve.ts';
import { paint } from '../../src/cli/terminal/paint.ts';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import type { Environment } from '../../src/config.ts';

/** Creates a terminal that collects its output. It is not interactive. */
export function collectingTerminal(options: Partial<Terminal> = {}) {
  const written = { out: '', note: '' };
  const terminal: Terminal = {
    out: (text) => {
      written.out += text;
    },
    note: (text) => {
      written.note += text;
    },
    paint: paint(false),
    notePaint: paint(false),
    interactive: false,
    watched: false,
    confirm: async () => false,
    readInput: async () => '',
    onInterrupt: () => () => undefined,
    flush: async () => undefined,
    ...options,
  };
  return { terminal, written };
}

const noServer: StartServer = async () => {
  throw new Error('this test starts no server');
};

/** Runs a command line inside this process. Returns its exit code and its output. */
export async function runHere(argv: readonly string[], env: Environment = {}, options: Partial<Terminal> = {}) {
  const { terminal, written } = collectingTerminal(options);
  const code = await runProgram(argv, { env, terminal, startServer: noServer });
  return { code, ...written };
}

/** Runs a command line inside this process, in another working directory. */
export async function runIn(directory: string, argv: readonly string[], options: Partial<Terminal> = {}) {
  const before = process.cwd();
  process.chdir(directory);
  try {
    return await runHere(argv, {}, options);
  } finally {
    process.chdir(before);
  }
}
