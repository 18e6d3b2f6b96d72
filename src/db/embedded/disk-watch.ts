import { Unavailable } from '../../model/errors.ts';
import { diskFull } from '../shortage.ts';

/** How long after a write that lacked room it is tried again whether there is some, in milliseconds. */
const probeMs = 2000;

/** Takes 1 MiB of new pages for a moment; small rows may fit into old ones. Rows of this length are not compressed. */
const takesRoom = `create temporary table heddle_room on commit drop as
  select repeat('x', 1000) from generate_series(1, 1024)`;

/** Knows whether the disk of a database is full: from a statement that lacked room until a probe finds some. */
export class DiskWatch {
  readonly #asOwner: (statements: readonly string[]) => Promise<void>;
  readonly #changed: (isFull: boolean) => void;
  #full: Unavailable | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    asOwner: (statements: readonly string[]) => Promise<void>,
    changed: (isFull: boolean) => void = () => {},
  ) {
    this.#asOwner = asOwner;
    this.#changed = changed;
  }

  /** Takes note of what the database lacked, and returns it. */
  note(shortage: Unavailable): Unavailable {
    if (!isDiskFull(shortage) || this.#full !== undefined) return shortage;
    this.#full = shortage;
    this.#changed(true);
    this.#probeLater();
    return shortage;
  }

  /** Throws `Unavailable` while the disk is full. */
  requireRoom(): void {
    if (this.#full === undefined) return;
    throw new Unavailable(this.#full.message, { cause: this.#full, problems: this.#full.problems });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #probeLater(): void {
    this.#timer = setTimeout(() => void this.#probe(), probeMs).unref();
  }

  async #probe(): Promise<void> {
    // Other errors, a missing right for example, say nothing about the disk: the next write shows them.
    const failure = await this.#asOwner([takesRoom]).catch((error: unknown) => error);
    if (failure instanceof Unavailable) return this.#probeLater();
    this.#full = undefined;
    this.#changed(false);
  }
}

function isDiskFull({ problems }: Unavailable): boolean {
  return problems.some(({ code }) => code === diskFull);
}
