/** A whole number with its thousands apart: `12,345`. The first use of `Intl` costs a process 20 ms, a tenth of a short command. */
export function numberText(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}
