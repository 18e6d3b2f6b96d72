import type { Environment } from '../../config.ts';
import { type Paint, paint } from './paint.ts';

/** Where a command reads and writes. The result goes to `out`; progress, questions and complaints go to `note`. */
export interface Terminal {
  out(text: string): void;
  note(text: string): void;
  /** Colours for `out`, when they can be seen. */
  readonly paint: Paint;
  readonly notePaint: Paint;
  /** Whether a person can be asked. */
  readonly interactive: boolean;
  /** Whether a person sees the notes. */
  readonly watched: boolean;
  /** Asks a question that is answered with y or n; anything else is a no. */
  confirm(question: string): Promise<boolean>;
  readInput(): Promise<string>;
  /** Calls the listener at each Ctrl-C, which then does nothing else; returns how to stop listening. */
  onInterrupt(listener: () => void): () => void;
  /** Resolves when all that was written has left. */
  flush(): Promise<void>;
}

type Output = NodeJS.WriteStream;

/** Whether output to a terminal may have colours (no-color.org). */
function allowsColour(env: Environment): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** The terminal of this process. A reader that went away (`| head`) is no fault: what it does not want is dropped. */
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
  // Loaded when it is needed: few commands ask.
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: streams.stdin, output: streams.stderr });
  // Ctrl-C or Ctrl-D: a no, and the cursor still stands behind the question.
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
