import { runProgram } from './cli/program.ts';
import { createTerminal } from './cli/terminal.ts';
import { environment } from './config.ts';

// The launcher imports this file, and that runs the program.
const terminal = createTerminal(process, environment);
const code = await runProgram(process.argv.slice(2), environment, terminal);
await terminal.flush();
// Idle connections and worker threads must not hold up the end.
process.exit(code);
