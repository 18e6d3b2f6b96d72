import { Unavailable } from '../model/errors.ts';
import type { PlanView } from '../plan/view.ts';
import { type Client, clientSettings, connect } from './client.ts';
import { defineCommand, type Invocation } from './command.ts';
import { exit } from './exit.ts';
import { failureDocument, writeJson } from './failure.ts';
import { collectFiles, pathArgument } from './files.ts';
import { planFlags } from './flags.ts';
import { renderOutputs } from './outputs.ts';
import { type Applied, requestApply, requestPlan, type StoredPlan, writesNothing } from './planning.ts';
import { withProgress } from './progress.ts';
import { approvalHint, renderPlan } from './render.ts';
import { applyCommand } from './shell.ts';
import type { Terminal } from './terminal.ts';
import { collectValues, valueSettings } from './values.ts';

export const apply = defineCommand({
  name: 'apply',
  summary: 'Bring the account into the shape of documents.',
  details: 'Shows the plan, asks, and applies exactly what was shown, all of it or nothing.',
  argument: pathArgument,
  flags: {
    'auto-approve': { doc: 'Do not ask.' },
    approve: { placeholder: 'DIGEST', doc: 'Approve the plan with this digest although a guard tripped.' },
    'expect-digest': { placeholder: 'DIGEST', doc: 'Refuse unless the plan has this digest.' },
    ...planFlags,
  },
  settings: [...clientSettings, ...valueSettings],
  examples: [
    ['heddle apply examples/quickstart', 'Show the plan of a directory, ask, apply'],
    ['heddle apply config --source-name team --auto-approve', 'Apply from a pipeline'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    if (flags['auto-approve'] !== true && (!terminal.interactive || positionals.includes('-')))
      return refuseToGuess(invocation);
    const files = await collectFiles(positionals, terminal);
    const client = await connect(config);
    const values = await collectValues(files, config);
    const plan = await requestPlan(client, { files, values }, flags, terminal);
    const result = await decide(invocation, client, plan);
    if (flags['json'] === true) writeJson(terminal, result.document);
    return result.code;
  },
});

type Call = Pick<Invocation, 'flags' | 'positionals' | 'terminal'>;

interface Result {
  readonly code: number;
  readonly document: object;
}

async function decide({ flags, positionals, terminal }: Call, client: Client, plan: StoredPlan): Promise<Result> {
  const json = flags['json'] === true;
  const detailed = flags['detailed-exitcode'] === true && plan.changes.length > 0;
  // With --json the result is the document, so the plan is shown to whoever is asked.
  if (!json) terminal.out(renderPlan(plan, terminal.paint));
  else if (flags['auto-approve'] !== true) terminal.note(renderPlan(plan, terminal.notePaint));
  if (flags['expect-digest'] !== undefined && flags['expect-digest'] !== plan.digest) {
    return refused(
      terminal,
      plan,
      exit.conflict,
      `The plan has the digest ${plan.digest}, not the expected one; look at it with \`heddle plan\`.`,
    );
  }
  if (writesNothing(plan)) return { code: exit.ok, document: documentOf(plan, false, null) };
  const approve = typeof flags['approve'] === 'string' ? flags['approve'] : undefined;
  const approvable = () => approvalHint(plan, applyCommand(positionals, flags));
  if (plan.guards.length > 0 && approve !== plan.digest) {
    const stale = approve === undefined ? '' : ' The approval given is for another plan.';
    return refused(terminal, plan, exit.approval, `A guard tripped, so nothing was applied.${stale}`, approvable());
  }
  if (flags['auto-approve'] !== true && !(await terminal.confirm('Apply this plan? [y/N] '))) {
    return refused(terminal, plan, exit.error, 'Nothing was applied.');
  }
  const applied = await send(terminal, client, plan, approve);
  if (!applied.done)
    return refused(terminal, applied.plan, exit.approval, 'A guard tripped, so nothing was applied.', approvable());
  if (!json) terminal.out(`${appliedText(applied)}\n${outputsText(applied)}`);
  return {
    code: detailed ? exit.changes : exit.ok,
    document: { ...documentOf(plan, true, applied.revision), ...outputsPart(applied) },
  };
}

/** Without somebody to ask and without leave to go on, nothing is done at all. */
function refuseToGuess({ flags, terminal }: Call): number {
  const message = 'There is nobody to ask whether to apply the plan; add --auto-approve to apply without asking.';
  if (flags['json'] === true) writeJson(terminal, failureDocument(message, exit.error));
  terminal.note(`${terminal.notePaint('error', 'error:')} ${message}\n`);
  return exit.error;
}

/** Sends the plan. Ctrl-C does not undo what the server does, so the first one only says so. */
async function send(
  terminal: Terminal,
  client: Client,
  plan: StoredPlan,
  approve: string | undefined,
): Promise<Applied> {
  const lost = 'ask `heddle status` whether there is a new revision; the plan is applied as a whole or not at all';
  let interrupted = false;
  const onInterrupt = () => {
    if (interrupted) {
      terminal.note(`\nStopped waiting; ${lost}.\n`);
      process.exit(exit.error);
    }
    interrupted = true;
    terminal.note(
      '\nThe server is applying the plan and cannot be stopped half-way. Press Ctrl-C again to stop waiting.\n',
    );
  };
  process.on('SIGINT', onInterrupt);
  try {
    return await withProgress(terminal, 'applying', () => requestApply(client, plan, approve));
  } catch (cause) {
    if (!(cause instanceof Unavailable)) throw cause;
    throw new Unavailable(`The answer of the server was lost; ${lost}. (${cause.message})`, { cause, inDoubt: true });
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

function refused(terminal: Terminal, plan: PlanView, code: number, message: string, hint = ''): Result {
  terminal.note(`${terminal.notePaint('error', 'error:')} ${message}\n${hint}`);
  return { code, document: { ...failureDocument(message, code), plan } };
}

function appliedText({ revision }: Extract<Applied, { done: true }>): string {
  return revision === null ? 'Applied; there was nothing to write.' : `Applied as revision ${revision}.`;
}

/** What the server made up for new objects, which nobody sees again. */
function outputsText({ outputs }: Extract<Applied, { done: true }>): string {
  return outputs.length === 0 ? '' : `\nMade for new objects, and shown this once:\n${renderOutputs(outputs)}`;
}

function outputsPart({ outputs }: Extract<Applied, { done: true }>): object {
  return outputs.length === 0 ? {} : { outputs };
}

function documentOf(plan: PlanView, applied: boolean, revision: number | null): object {
  return { formatVersion: '1.0', applied, revision, plan };
}
