import { Unavailable } from '../../model/errors.ts';
import { diskFull } from '../shortage.ts';

/** Time between a write that found the disk full and the next probe for free space, in milliseconds. */
const probeMs = 2000;

/**
 * Allocates 1 MiB of new pages temporarily, because small rows may fit into existing pages. Rows of this length are not
 * compressed.
 */
const allocateSpaceText = `create temporary table heddle_room on commit drop as
  select repeat('x', 1000) from generate_series(1, 1024)`;

/**
 * Tracks whether the disk of a database is full: from the first statement that lacked space until a probe finds space.
 */
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

  /** Records that the disk is full if `shortage` reports that, and returns `shortage`. */
  recordShortage(shortage: Unavailable): Unavailable {
    if (!isDiskFull(shortage) || this.#full !== undefined) return shortage;
    this.#full = shortage;
    this.#changed(true);
    this.#probeLater();
    return shortage;
  }

  /** Throws `Unavailable` while the disk is full. */
  requireSpace(): void {
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
    // Other errors, such as a missing permission, prove nothing about the disk. The next write reports them.
    const failure = await this.#asOwner([allocateSpaceText]).catch((error: unknown) => error);
    if (failure instanceof Unavailable) return this.#probeLater();
    this.#full = undefined;
    this.#changed(false);
  }
}

function isDiskFull({ problems }: Unavailable): boolean {
  return problems.some(({ code }) => code === diskFull);
}
