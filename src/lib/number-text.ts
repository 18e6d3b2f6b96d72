/**
 * Formats an integer with thousands separators: `12,345`. Does not use `Intl`, whose first use costs a process 20 ms, a
 * tenth of a short command.
 */
export function formatNumber(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}
