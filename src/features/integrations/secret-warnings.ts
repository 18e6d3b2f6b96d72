/** Days before a secret expires at which a warning event is written. */
const warningDays = [7, 30] as const;

const dayMs = 24 * 60 * 60 * 1000;

/** Returns whether a secret expires so soon that a warning is due. */
export function endsSoon(ends: string, now: string): boolean {
  return daysLeft(ends, now) <= Math.max(...warningDays);
}

/**
 * Returns the warning that is due, as its number of days; `undefined` when none is. `warned` is the last warning that
 * was given, `null` for none.
 */
export function dueWarning(ends: string, now: string, warned: number | null): number | undefined {
  const days = warningDays.find((one) => daysLeft(ends, now) <= one);
  return days === undefined || (warned !== null && warned <= days) ? undefined : days;
}

function daysLeft(ends: string, now: string): number {
  return (Date.parse(ends) - Date.parse(now)) / dayMs;
}
