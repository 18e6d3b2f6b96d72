const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

const numberPattern = String.raw`(\d{1,12})(?:\.(\d{1,9}))?`;
const durationPattern = new RegExp(`^${units.map(([unit]) => `(?:${numberPattern}${unit})?`).join('')}$`);

/**
 * Parses a duration such as `2m30s`, `1.5h` or `500ms` and returns it in seconds. Units must be in order from h to ms.
 * Returns `undefined` for anything else, and for fractions of a millisecond.
 */
export function parseDuration(text: string): number | undefined {
  const milliseconds = parseMilliseconds(text);
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}

/**
 * Returns whole milliseconds. Uses integer arithmetic only, because `1.1h` multiplied as a float would not give a whole
 * number.
 */
function parseMilliseconds(text: string): number | undefined {
  const match = durationPattern.exec(text);
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

const nanosecondsByUnit: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  '\u00b5s': 1000n,
  '\u03bcs': 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const goPartPattern = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
/** Maximum of a signed 64-bit integer, in which Go stores durations. */
const maxGoNanoseconds = 2n ** 63n - 1n;

/**
 * Returns a duration as Go formats it: `90s` becomes `1m30s`, `2m` becomes `2m0s`, `0.5s` becomes `500ms`. Accepts what
 * Go accepts, except a sign; returns `undefined` for anything else.
 */
export function canonicalGoDuration(text: string): string | undefined {
  const total = parseGo(text);
  return total === undefined || total > maxGoNanoseconds ? undefined : formatGo(total);
}

function parseGo(text: string): bigint | undefined {
  // Longer texts would not fit into 64 bits, and would be slow to multiply.
  if (text === '' || text.length > 100) return undefined;
  if (text === '0') return 0n;
  let total = 0n;
  goPartPattern.lastIndex = 0;
  while (goPartPattern.lastIndex < text.length) {
    const match = goPartPattern.exec(text);
    if (match === null) return undefined;
    const [, whole = '', fraction = '', unit = ''] = match;
    if (whole === '' && fraction === '') return undefined;
    const size = nanosecondsByUnit[unit] ?? 0n;
    total += BigInt(whole || 0) * size + (BigInt(fraction || 0) * size) / 10n ** BigInt(fraction.length);
  }
  return total;
}

function formatGo(total: bigint): string {
  if (total === 0n) return '0s';
  for (const [unit, digits, limit] of smallUnits) if (total < limit) return `${formatDecimal(total, digits)}${unit}`;
  const minutes = total / 60_000_000_000n;
  const seconds = `${formatDecimal(total % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

const smallUnits = [
  ['ns', 0, 1000n],
  ['\u00b5s', 3, 1_000_000n],
  ['ms', 6, 1_000_000_000n],
] as const;

/** Formats `value` with its last `digits` digits after the decimal point, without trailing zeros. */
function formatDecimal(value: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const fraction =
    digits === 0
      ? ''
      : String(value % scale)
          .padStart(digits, '0')
          .replace(/0+$/, '');
  return fraction === '' ? `${value / scale}` : `${value / scale}.${fraction}`;
}
