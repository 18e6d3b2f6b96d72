const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

const number = String.raw`(\d{1,12})(?:\.(\d{1,9}))?`;
const pattern = new RegExp(`^${units.map(([unit]) => `(?:${number}${unit})?`).join('')}$`);

/** Seconds of a duration such as `2m30s`, `1.5h` or `500ms`; units fall from h to ms. Finer than a millisecond is refused. */
export function parseDuration(text: string): number | undefined {
  const milliseconds = parseMilliseconds(text);
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}

/** The one spelling of a duration: largest units first, nothing that is zero (`0m90s` is `1m30s`, nothing at all is `0s`). */
export function canonicalDuration(text: string): string | undefined {
  let rest = parseMilliseconds(text);
  if (rest === undefined) return undefined;
  let canonical = '';
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) canonical += `${count}${unit}`;
  }
  return canonical || '0s';
}

/** Whole milliseconds, in integers throughout: `1.1h` times a float would not be one. */
function parseMilliseconds(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null || text === '') return undefined;
  let total = 0;
  for (const [index, [, size]] of units.entries()) {
    const whole = Number(match[1 + 2 * index] ?? 0);
    const fraction = match[2 + 2 * index] ?? '';
    const scaled = Number(fraction) * size;
    const scale = 10 ** fraction.length;
    if (scaled % scale !== 0) return undefined;
    total += whole * size + scaled / scale;
  }
  return Number.isSafeInteger(total) ? total : undefined;
}
