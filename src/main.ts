import { runProgram } from './cli/program.ts';
import type { StartServer } from './cli/server/serve.ts';
import { createTerminal } from './cli/terminal/terminal.ts';
import { environment } from './config.ts';

// Imported on demand: the other commands need neither a database nor a web server.
const startServer: StartServer = async (options, log) => (await import('./app.ts')).serve(options, log);

// The launcher imports this file, which runs the program.
const terminal = createTerminal(process, environment);
const code = await runProgram(process.argv.slice(2), { env: environment, terminal, startServer });
await terminal.flush();
// Idle connections and worker threads must not keep the process running.
process.exit(code);
