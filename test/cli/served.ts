import { afterAll, beforeAll } from 'vitest';
import type { Terminal } from '../../src/cli/terminal.ts';
import { type TestApi, type TestApiOptions, testApi, token } from '../api/setup.ts';
import { runHere } from './collect.ts';

/** What a command line came to. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly note: string;
}

/** A server that listens inside this process, and command lines that talk to it as its owner. */
export interface Served extends AsyncDisposable {
  readonly api: TestApi;
  readonly url: string;
  /** Runs a command line; `options` change the terminal, such as who answers its questions. */
  heddle(argv: readonly string[], options?: Partial<Terminal>): Promise<Ran>;
  /** Runs a command line with `--json` and answers what it wrote beside its code. */
  json(...argv: readonly string[]): Promise<{ readonly code: number; readonly document: Document }>;
}

// Tests look into documents member by member; a wrong member is `undefined` and fails the test.
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Document = any;

/** Starts a server of its own. */
export async function serve(options: TestApiOptions = {}): Promise<Served> {
  const api = await testApi('postgres', options);
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const heddle = (argv: readonly string[], terminal: Partial<Terminal> = {}) =>
    runHere(argv, { HEDDLE_SERVER: url, HEDDLE_TOKEN: token }, terminal);
  return {
    api,
    url,
    heddle,
    async json(...argv) {
      const { code, out } = await heddle([...argv, '--json']);
      return { code, document: JSON.parse(out) };
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** One server for all tests of a file that do not get in each other's way. */
export function sharedServer(options: TestApiOptions = {}): () => Served {
  let served: Served | undefined;
  beforeAll(async () => {
    served = await serve(options);
  });
  afterAll(() => served?.[Symbol.asyncDispose]());
  return () => {
    if (served === undefined) throw new Error('the server is started before the first test');
    return served;
  };
}
