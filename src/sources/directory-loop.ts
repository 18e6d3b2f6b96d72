import { readInput } from '../documents/input.ts';
import type { Reader } from '../documents/reader.ts';
import { applyDesire, type Reconciled } from '../engine/documents.ts';
import type { Engine } from '../engine/engine.ts';
import { outputsKeptDays } from '../engine/outputs.ts';
import { recordedStatus, recordSource, recordStatus } from '../engine/status.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Document } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { createDirectorySource } from './directory.ts';
import type { DirectorySnapshot } from './snapshot.ts';

/** A directory that is applied to an account whenever it changes. */
export interface DirectoryLoopOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly account: string;
  /** The name of the source. */
  readonly name: string;
  readonly path: string;
  readonly settleMs?: number;
  readonly pollMs?: number;
  /** Told how every reconcile ended, in words. */
  tell(report: SourceReport): void;
}

/** How a reconcile ended. */
export interface SourceReport {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly problems?: readonly Problem[];
}

/** Where a source stands, as it is stored and shown. */
interface Status {
  readonly state: 'applied' | 'needs_approval' | 'invalid' | 'unavailable';
  readonly message: string;
  readonly digest?: string;
  readonly planDigest?: string;
  readonly lastAppliedRevision?: number;
  readonly lastAppliedAt?: string;
  readonly problems?: readonly Problem[];
}

/** Starts the loop. Returns a function that stops it and waits for a reconcile that is under way. */
export function runDirectoryLoop(options: DirectoryLoopOptions): () => Promise<void> {
  const { path, settleMs, pollMs } = options;
  let status: Status | undefined;
  const memory: Memory = {};
  const deliver = async (snapshot: DirectorySnapshot): Promise<void> => {
    status ??= await register(options);
    const next = snapshot.ok
      ? await reconcile(options, snapshot, memory, status)
      : unavailable(options, snapshot.reason, status);
    await store(options, next);
    status = next;
  };
  const onError = (error: unknown): void => {
    options.tell({
      level: 'error',
      message: `source ${options.name}: ${error instanceof Error ? error.message : String(error)}; it is tried again`,
    });
  };
  return createDirectorySource(
    { path, onError, ...(settleMs === undefined ? {} : { settleMs }), ...(pollMs === undefined ? {} : { pollMs }) },
    deliver,
  );
}

/** A directory that cannot be read is not an empty one: nothing is applied, nothing is deleted. */
function unavailable({ name, tell }: DirectoryLoopOptions, reason: string, last: Status | undefined): Status {
  const message = `source ${name} is unavailable: ${reason.replace(/\.$/, '')}; nothing is changed until it returns`;
  tell({ level: 'warn', message });
  return { ...lastApplied(last), state: 'unavailable', message };
}

/** What was applied last. */
interface Memory {
  since?: { readonly documents: readonly Document[]; readonly revision: number } | undefined;
}

async function reconcile(
  options: DirectoryLoopOptions,
  snapshot: DirectorySnapshot & { readonly ok: true },
  memory: Memory,
  last: Status | undefined,
): Promise<Status> {
  const { engine, reader, account, name, tell } = options;
  for (const warning of snapshot.warnings) tell({ level: 'warn', message: `source ${name}: ${warning}` });
  const input = await readInput(reader, snapshot.files);
  const call = { account, actor: { type: 'source', id: name, name } as const, revision: 0 };
  const { documents, problems, place } = input;
  const since = memory.since === undefined ? {} : { since: memory.since };
  const result = await applyDesire(engine, call, {
    source: name,
    documents,
    problems,
    place,
    prune: true,
    allowEmpty: false,
    keepOutputs: true,
    ...since,
  });
  memory.since = result.state === 'applied' ? { documents, revision: result.after.revision } : undefined;
  return report(options, result, snapshot.digest, documents.length, last);
}

function report(
  { engine, name, path, tell }: DirectoryLoopOptions,
  result: Reconciled,
  digest: string,
  documents: number,
  last: Status | undefined,
): Status {
  switch (result.state) {
    case 'applied': {
      for (const warning of result.plan.warnings)
        tell({ level: 'warn', message: `source ${name}: ${warning.message}` });
      const { create, update, delete: deleted, claims } = result.plan.counts;
      const summary =
        result.revision === undefined
          ? 'nothing to do'
          : `revision ${result.revision}: ${create} created, ${update} changed, ${deleted} deleted${claims > 0 ? `, ${claims} claimed or released` : ''}`;
      const message = `source ${name}: ${documents} documents, ${summary}`;
      tell({ level: 'info', message });
      if (result.kept !== undefined) tell({ level: 'info', message: outputsHint(name, result.kept) });
      if (result.revision !== undefined) {
        const applied = { lastAppliedRevision: result.revision, lastAppliedAt: engine.now() };
        return { ...applied, state: 'applied', message, digest };
      }
      // After a restart nothing is new about documents that are applied already.
      if (last?.state === 'applied' && last.digest === digest) return last;
      return { ...lastApplied(last), state: 'applied', message, digest };
    }
    case 'needs_approval': {
      const guards = result.plan.guards.map((guard) => guard.message).join('; ');
      const message = `source ${name} wants an approval and changed nothing: ${guards}; look with \`heddle plan ${path} --source-name ${name}\`, let exactly this plan through with \`heddle apply ${path} --source-name ${name} --approve ${result.plan.digest}\``;
      tell({ level: 'warn', message });
      return { ...lastApplied(last), state: 'needs_approval', message, digest, planDigest: result.plan.digest };
    }
    case 'stale':
      throw new Error('a source never asks for a certain digest');
    case 'invalid': {
      const count = result.problems.length;
      const message = `source ${name} is not applied: ${count} ${count === 1 ? 'problem' : 'problems'} in its documents; nothing was changed`;
      tell({ level: 'error', message, problems: result.problems });
      return { ...lastApplied(last), state: 'invalid', message, digest, problems: result.problems.slice(0, 100) };
    }
  }
}

/** How to read what nobody was there to be shown. */
function outputsHint(source: string, plan: string): string {
  return `source ${source}: values were made for new objects, which can be read once within ${outputsKeptDays} days: \`heddle outputs ${plan}\``;
}

function lastApplied(status: Status | undefined): Partial<Status> {
  return {
    ...(status?.lastAppliedRevision === undefined ? {} : { lastAppliedRevision: status.lastAppliedRevision }),
    ...(status?.lastAppliedAt === undefined ? {} : { lastAppliedAt: status.lastAppliedAt }),
  };
}

/** Makes the source known, and gives the status that an earlier run of the server left. */
async function register({ engine, account, name, path }: DirectoryLoopOptions): Promise<Status | undefined> {
  const actor = { type: 'source', id: name, name } as const;
  await recordSource(engine, { account, actor }, { id: name, type: 'directory', spec: { path } });
  // Written by `store` alone.
  return (await recordedStatus(engine, account, name)) as unknown as Status | undefined;
}

async function store({ engine, account, name }: DirectoryLoopOptions, status: Status): Promise<void> {
  // A status is plain data.
  await recordStatus(engine, account, name, status as unknown as JsonObject);
}
