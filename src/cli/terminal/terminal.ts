import type { Environment } from '../../config.ts';
import { type Paint, paint } from './paint.ts';

/**
 * Input and output of a command. The result is written to `out` (standard output); progress, questions and errors to
 * `note` (standard error).
 */
export interface Terminal {
  out(text: string): void;
  note(text: string): void;
  /** Colours for `out`, if it is a terminal that supports them; below, the same for `note`. */
  readonly paint: Paint;
  readonly notePaint: Paint;
  /** Whether the user can be asked. */
  readonly interactive: boolean;
  /** Whether a person sees what is written to `note`. */
  readonly watched: boolean;
  /** Asks a question. Returns `true` for the answers `y` and `yes`, `false` for any other. */
  confirm(question: string): Promise<boolean>;
  readInput(): Promise<string>;
  /**
   * Calls the listener at each Ctrl-C, which then no longer ends the process. Returns a function that removes the
   * listener.
   */
  onInterrupt(listener: () => void): () => void;
  /** Resolves when everything that was written has been passed to the operating system. */
  flush(): Promise<void>;
}

type Output = NodeJS.WriteStream;

/** Checks whether the environment allows colours in output to a terminal (no-color.org). */
function allowsColour(env: Environment): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/**
 * Creates the terminal of this process. When the reader of the output ends early (`| head`), the rest is dropped
 * without an error.
 */
export function createTerminal(streams: NodeJS.Process, env: Environment): Terminal {
  const out = createWriter(streams.stdout);
  const note = createWriter(streams.stderr);
  const coloured = (stream: Output) => stream.isTTY === true && allowsColour(env);
  return {
    out: out.write,
    note: note.write,
    paint: paint(coloured(streams.stdout)),
    notePaint: paint(coloured(streams.stderr)),
    interactive: streams.stdin.isTTY === true && streams.stderr.isTTY === true,
    watched: streams.stderr.isTTY === true,
    confirm: (question) => confirm(streams, question),
    readInput: () => readAll(streams.stdin),
    onInterrupt(listener) {
      streams.on('SIGINT', listener);
      return () => streams.off('SIGINT', listener);
    },
    async flush() {
      await Promise.all([out.flush(), note.flush()]);
    },
  };
}

function createWriter(stream: Output) {
  let closed = false;
  let last: Promise<void> = Promise.resolve();
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    closed = true;
  });
  return {
    write(text: string) {
      if (closed) return;
      last = new Promise((resolve) => stream.write(text, () => resolve()));
    },
    flush: () => last,
  };
}

async function confirm(streams: NodeJS.Process, question: string): Promise<boolean> {
  // Imported on demand: few commands ask.
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: streams.stdin, output: streams.stderr });
  // Ctrl-C and Ctrl-D count as no. They leave the cursor behind the question, so a line end is printed.
  const left = new Promise<string>((resolve) => lines.once('close', () => resolve('\n')));
  try {
    const answer = await Promise.race([lines.question(question), left]);
    if (answer === '\n') streams.stderr.write(answer);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

async function readAll(input: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
