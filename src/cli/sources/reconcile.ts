import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../../lib/duration.ts';
import { printable } from '../../lib/text/printable.ts';
import { InvalidInput } from '../../model/errors.ts';
import type { SourceState } from '../../model/sources/status.ts';
import { sources as operations, type Source } from '../../operations/config/sources.ts';
import { type Client, call, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { printFailure, writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { renderSource } from '../render/sources.ts';
import { withProgress } from '../terminal/progress.ts';
import { readSources, requireSource } from './source-names.ts';

const defaultTimeout = '5m';

export const reconcile = defineCommand({
  name: 'reconcile',
  summary: 'Read and apply a source now, instead of at its next scheduled time.',
  details:
    'The server that runs the source begins within a second. With --wait, the command exits when the reconcile is done: with 3 when the plan needs an approval, 4 for a conflict, 5 for invalid documents and 1 when the source cannot be read.',
  argument: { placeholder: 'NAME', doc: 'the name of a source, as `heddle sources` lists them', most: 1 },
  flags: {
    wait: { doc: 'Wait until the reconcile is done, and print its result.' },
    timeout: { placeholder: 'TIME', doc: `How long to wait, such as 30s (default ${defaultTimeout}).` },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle reconcile office', 'Do not wait for the next poll'],
    ['heddle reconcile office --wait', 'Fail a pipeline unless the source is applied'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    const [name = ''] = positionals;
    const seconds = parseTimeout(flags);
    const client = await connect(config);
    await requireSource(client, name);
    const { requestedAt } = await call(client, operations.reconcile, { params: { name } });
    if (flags['wait'] !== true) {
      if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', source: name, requestedAt });
      else terminal.out(`The reconcile is requested. \`heddle sources ${name}\` shows its result.\n`);
      return exit.ok;
    }
    const until = performance.now() + seconds * 1000;
    const source = await withProgress(terminal, `reconciling ${name}`, () =>
      waitForReconcile(client, { name, requestedAt, until }),
    );
    return source === undefined ? printTimeout(invocation, name) : printSource(invocation, source);
  },
});

type Call = Pick<Invocation, 'flags' | 'terminal'>;

function parseTimeout({ timeout = defaultTimeout }: Invocation['flags']): number {
  const seconds = typeof timeout === 'string' ? parseDuration(timeout) : undefined;
  if (seconds === undefined) throw new InvalidInput('--timeout is not a duration; write one such as 30s or 5m.');
  return seconds;
}

const minWaitMs = 100;
const maxWaitMs = 2000;

/**
 * Waits until the server has handled the request, and returns the source then. Returns `undefined` at the time limit.
 */
async function waitForReconcile(
  client: Client,
  { name, requestedAt, until }: { readonly name: string; readonly requestedAt: string; readonly until: number },
): Promise<Source | undefined> {
  for (let wait = minWaitMs; ; wait = Math.min(wait * 2, maxWaitMs)) {
    const source = (await readSources(client)).find(({ id }) => id === name);
    const handled = source?.status.lastHandledReconcileAt;
    if (source !== undefined && handled !== undefined && handled >= requestedAt) return source;
    const left = until - performance.now();
    if (left <= 0) return undefined;
    await sleep(Math.min(wait, left));
  }
}

const exitCodes: Readonly<Partial<Record<SourceState, number>>> = {
  applied: exit.ok,
  needs_approval: exit.approval,
  conflicted: exit.conflict,
  invalid: exit.invalid,
};

function printSource(call: Call, source: Source): number {
  const { flags, terminal } = call;
  const { state, message = '' } = source.status;
  const code = (state && exitCodes[state]) ?? exit.error;
  const json = flags['json'] === true;
  if (code !== exit.ok) {
    if (!json) terminal.out(renderSource(source, terminal.paint));
    return printFailure(call, code, message, { source });
  }
  if (json) writeJson(terminal, { formatVersion: '1.0', source });
  else terminal.out(`${printable(message)}\n`);
  return code;
}

function printTimeout(call: Call, name: string): number {
  const message = `No server has reconciled ${name} in time; the request stays pending. \`heddle sources ${name}\` shows the state of the source.`;
  return printFailure(call, exit.error, message);
}
