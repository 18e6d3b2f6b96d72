import type { Attack } from './attacks.ts';
import type { HostileStand, Toll } from './stand.ts';

/** Tolerance for noise in a measurement. */
export interface Tolerance {
  /**
   * Shorter times are not counted as delays, in milliseconds: a turn of the event loop takes as long on a busy machine.
   */
  readonly floor: number;
  /** Number of attempts at a noisy measurement. */
  readonly tries: number;
}

/** Maximum factor by which the waiting time of other requests may grow during an attack. */
const mostTimes = 3;

/** Bytes by which the memory of a server may grow: a fixed part, and a part for each byte of hostile input. */
const [baseBytes, perByte] = [512 * 1024 * 1024, 1024];

/** Maximum size of an answer to 1 MB, in bytes: the answer lists problems, or contains the stored object. */
const mostAnswered = 4 * 1024 * 1024;

/**
 * Returns a description of the costs of an attack beyond the budget. Returns `undefined` when one of the attempts stays
 * within it.
 */
export async function overBudget(
  stand: HostileStand,
  attack: Attack,
  tolerance: Tolerance,
): Promise<string | undefined> {
  let over: string | undefined;
  for (let attempt = 0; attempt < tolerance.tries; attempt += 1) {
    const toll = await stand.throwAt(attack);
    over = describe(attack, toll, tolerance.floor);
    if (over === undefined) return undefined;
  }
  return over;
}

function describe(
  { name }: Attack,
  { idle, attacked, longest, grown, status, answered }: Toll,
  floor: number,
): string | undefined {
  if (status >= 500 && status !== 503) return `${name}: answered with ${status}`;
  if (answered > mostAnswered) return `${name}: answered with ${answered} bytes`;
  const most = Math.max(mostTimes * idle, floor);
  const figures = `others waited ${Math.round(attacked)} ms, idle ${Math.round(idle)} ms, the event loop ${Math.round(longest)} ms`;
  if (attacked > most && longest > most) return `${name}: ${figures}`;
  return grown > baseBytes + perByte * 1_000_000 ? `${name}: took ${Math.round(grown / 1e6)} MB` : undefined;
}
