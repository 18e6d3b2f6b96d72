import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { programFile } from '../setup/bundle.ts';
import type { Engine } from '../setup/database.ts';
import { serverProcess } from '../setup/server-process.ts';
import type { ApplierOrder, ApplierSays } from './applier.ts';
import { type Look, openScene, type Scene } from './scene.ts';

/** How often the account was found at the old revision, and at the new revision. */
export interface Killed {
  readonly old: number;
  readonly new: number;
}

/**
 * Kills a process with SIGKILL at random moments while it applies `objects` objects, and reads every table after each
 * kill: the account must be at the old or at the new revision, and all its tables must match that revision.
 */
export async function killWhileApplying(engine: Engine, moments: number, objects: number): Promise<Killed> {
  await using scene = await openScene(engine, objects);
  const steps = await rehearse(scene);
  const found = { old: 0, new: 0 };
  let before = steps.last;
  let reach = steps.milliseconds * 1.25;
  // On Postgres the next process prepares while this one works. Only one process may open a data directory.
  let next = engine === 'postgres' ? start(scene) : undefined;
  for (let moment = 0; moment < moments; moment += 1) {
    const applier = await (next ?? start(scene));
    const set = before.sets[0] === 0 ? 1 : 0;
    report(applier.child, { set, seen: before.revision });
    next = engine === 'postgres' && moment + 1 < moments ? start(scene) : undefined;
    // The last process may confirm before it is killed: a confirmation must always be true.
    const mayEnd = moment + 1 === moments;
    if (mayEnd) await heard(applier.child);
    // The first process is killed at once, when it has hardly begun, so that a few moments show both the old and the
    // new revision.
    await killLater(applier.child, mayEnd || moment === 0 ? 0 : Math.random() * reach);
    const after = await scene.look(applier.backend);
    const moved = after.revision !== before.revision;
    if (mayEnd) expect(moved).toBe(true);
    expect(after).toEqual(moved ? steps.after(before, set) : before);
    found[moved ? 'new' : 'old'] += 1;
    // The machine may have become slower or faster since the rehearsal. The kills must hit both kinds of moments.
    reach *= moved ? 0.9 : 1.1;
    before = after;
  }
  return found;
}

interface Applier {
  readonly child: ChildProcess;
  readonly backend: number;
}

async function start({ options }: Scene): Promise<Applier> {
  const child = fork(programFile('test/faults/applier.ts'), [JSON.stringify(options)], serverProcess());
  const said = await heard(child);
  if (said === 'done') throw new Error('the process was not told to apply anything');
  return { child, backend: said.backend };
}

async function heard(child: ChildProcess): Promise<ApplierSays> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the process ended with ${code}`);
  });
  const [said] = await Promise.race([once(child, 'message'), ended]);
  // The process sends no other messages.
  return said as ApplierSays;
}

function report(child: ChildProcess, order: ApplierOrder): void {
  child.send(order);
}

async function killLater(child: ChildProcess, milliseconds: number): Promise<void> {
  await delay(milliseconds);
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Applies both sets without a kill, to measure the time and the changes of the row counts. */
async function rehearse(scene: Scene) {
  const looks: Look[] = [];
  let milliseconds = 0;
  for (const set of [0, 1, 0]) {
    const { child, backend } = await start(scene);
    const begun = performance.now();
    report(child, { set, seen: 0 });
    await heard(child);
    milliseconds = performance.now() - begun;
    await killLater(child, 0);
    looks.push(await scene.look(backend));
  }
  const [first, second, last] = looks;
  if (first === undefined || second === undefined || last === undefined) throw new Error('nothing was rehearsed');
  const deltas = [difference(second, last), difference(first, second)];
  const after = (before: Look, set: number): Look => ({
    revision: before.revision + 1,
    sets: [set],
    counts: Object.fromEntries(
      Object.entries(before.counts).map(([name, count]) => [name, count + (deltas[set]?.[name] ?? 0)]),
    ),
  });
  return { milliseconds, last, after };
}

function difference(before: Look, after: Look): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(after.counts).map(([name, count]) => [name, count - (before.counts[name] ?? 0)]),
  );
}
