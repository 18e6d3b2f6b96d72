/** How many days before its end an event says that a secret ends. */
const secretWarnings = [7, 30] as const;

const dayMs = 24 * 60 * 60 * 1000;

/** Whether a secret ends so soon that people are warned. */
export function endsSoon(ends: string, now: string): boolean {
  return daysLeft(ends, now) <= Math.max(...secretWarnings);
}

/** The warning that has to be given now: before how many days. `warned` is that of the last one. */
export function dueWarning(ends: string, now: string, warned: number | null): number | undefined {
  const days = secretWarnings.find((one) => daysLeft(ends, now) <= one);
  return days === undefined || (warned !== null && warned <= days) ? undefined : days;
}

function daysLeft(ends: string, now: string): number {
  return (Date.parse(ends) - Date.parse(now)) / dayMs;
}
