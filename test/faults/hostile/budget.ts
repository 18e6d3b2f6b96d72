import type { Attack } from './attacks.ts';
import type { HostileStand, Toll } from './stand.ts';

/** How far a measurement may be from the ideal. */
export interface Tolerance {
  /** Nothing below is called a delay, in milliseconds: it is what a turn of the event loop takes on a busy machine. */
  readonly floor: number;
  /** How often a noisy measurement is taken again. */
  readonly tries: number;
}

/** Others wait at most so many times as long as when nothing happens. */
const mostTimes = 3;

/** The memory of a server may grow by this, whatever it is sent, and by so much for each byte of hostile input. */
const [baseBytes, perByte] = [512 * 1024 * 1024, 1024];

/** The most bytes of an answer to a megabyte: it lists problems, or what was stored. */
const mostAnswered = 4 * 1024 * 1024;

/** What an attack costs beyond the budget, in words; nothing when it stays within in one of some tries. */
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
