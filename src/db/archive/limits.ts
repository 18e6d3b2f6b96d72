import { InvalidInput } from '../../model/errors.ts';
import type { SectionName } from './format.ts';

/**
 * Limits of the archives that owners send, so that they exhaust neither the memory nor the time of a server that others
 * use too. An operator's restore has no limits: an account may grow beyond them, and its backup must be restorable.
 */
export const maxArchiveValues = {
  /** Of one line, which is then parsed in a fifth of a second. A group of 300,000 members has about 600,000. */
  line: 1_000_000,
  /**
   * Of all objects: those of 20,000 objects with 1,000 values each. As many take about 1 GB of memory.
   */
  objects: 20_000_000,
};

/** Maximum number of levels in one line. Documents nest 64 levels deep. */
export const maxArchiveDepth = 500;

/**
 * Returns the limits for unpacking an archive of so many compressed bytes. They depend on the size of the whole archive,
 * and not on the part that was read so far, so that every program that reads it finds the same excess. Most archives unpack to 10 to 30 times their
 * compressed size, and their longest lines, which list the members of large groups, to twice that size. Archives that
 * are made to exhaust the memory unpack to far more. Earlier releases wrote lines of up to 64 MiB.
 */
export function sizeLimits(packed: number) {
  return {
    bytes: 16 * 1024 * 1024 + 100 * packed,
    line: Math.min(1024 * 1024 + 4 * packed, 64 * 1024 * 1024),
    lines: 100_000 + packed / 4,
  };
}

/** Called when an archive exceeds a limit, with a clause that says how. Throws to refuse the archive. */
export type OnExcess = (excess: string) => void;

/** Refuses an archive that exceeds a limit. */
export const refuseExcess: OnExcess = (excess) => {
  throw new InvalidInput(
    `the archive is too large for an owner to restore: ${excess}. Nothing was written; ask the operator to restore the whole account on the server with \`heddle operator restore\`, which has no limits`,
  );
};

/** Accepts an archive of any size. */
export const allowExcess: OnExcess = () => {};

/** Returns a function that takes the number of values of each row and limits those of all objects. */
export function createObjectMeter(onExcess: OnExcess): (section: SectionName, values: number) => void {
  let total = 0;
  return (section, values) => {
    if (section !== 'objects') return;
    total += values;
    if (total > maxArchiveValues.objects) onExcess(`its objects have more than ${maxArchiveValues.objects} values`);
  };
}
