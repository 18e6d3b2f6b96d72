/** Numbers separated by dots, and a pre-release as in semantic versioning. */
interface Version {
  readonly numbers: readonly string[];
  /** Identifiers of the pre-release. Empty for a release. */
  readonly preRelease: readonly string[];
}

/**
 * Compares two versions as in semantic versioning, with any count of numbers (6.1 equals 6.1.0) of any length. Text
 * after `-` or `~` is a pre-release and sorts before the release; text after `+` or a space is ignored. Returns
 * `undefined` when one of the texts is not a version.
 */
export function compareVersions(a: string, b: string): number | undefined {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined) return undefined;
  return compareNumbers(left.numbers, right.numbers) || comparePreReleases(left.preRelease, right.preRelease);
}

/** Returns the numbers at the start of a text such as `6.8.0-41-generic`, or `undefined` when there are none. */
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

/** Compares non-negative integers of any length as texts. The longer text without leading zeros is greater. */
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

/** Sorts numeric identifiers before alphanumeric ones. */
function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left !== right) return left ? -1 : 1;
  return left ? compareDigits(a, b) : compareTexts(a, b);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
