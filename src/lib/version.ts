/** Numbers between dots, and what semantic versioning calls a pre-release. */
interface Version {
  readonly numbers: readonly string[];
  /** Empty for a release. */
  readonly preRelease: readonly string[];
}

/**
 * Orders two versions as semantic versioning does, with any count of numbers (6.1 is 6.1.0) of any length. What stands
 * behind `-` or `~` comes before the release, what stands behind `+` or a space means nothing. `undefined` when one of the
 * texts is no version.
 */
export function compareVersions(a: string, b: string): number | undefined {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined) return undefined;
  return compareNumbers(left.numbers, right.numbers) || comparePreReleases(left.preRelease, right.preRelease);
}

/** The numbers at the beginning of a text such as `6.8.0-41-generic`, `undefined` when there are none. */
export function leadingNumbers(text: string): string | undefined {
  return /^v?(\d+(?:\.\d+)*)/.exec(text)?.[1];
}

function parseVersion(text: string): Version | undefined {
  const [, numbers, preRelease = ''] =
    /^v?(\d+(?:\.\d+)*)(?:[-~]([\dA-Za-z._~-]+))?(?:[+ ].*)?$/s.exec(text.trim()) ?? [];
  if (numbers === undefined) return undefined;
  return { numbers: numbers.split('.'), preRelease: preRelease === '' ? [] : preRelease.split('.') };
}

function compareNumbers(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = compareDigits(a[at] ?? '0', b[at] ?? '0');
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares whole numbers of any length as texts: what is longer without its zeros is greater. */
function compareDigits(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return left.length - right.length || compareTexts(left, right);
}

function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [at, identifier] of a.entries()) {
    const other = b[at];
    if (other === undefined) break;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers come before words. */
function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left !== right) return left ? -1 : 1;
  return left ? compareDigits(a, b) : compareTexts(a, b);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
