/** A line of the diff: in both texts, or only in one of them. */
interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

const contextLines = 3;

/**
 * Maximum number of line pairs to compare, because the comparison needs a table of that size. Beyond it, the differing
 * part is shown as one block.
 */
const maxPairs = 4_000_000;

/** Returns the unified diff of two texts without its two header lines; empty when the texts are equal. */
export function lineDiff(before: string, after: string): string {
  const lines = compare(linesOf(before), linesOf(after));
  const shown = new Set(
    lines.flatMap(({ sign }, at) =>
      sign === ' ' ? [] : Array.from({ length: 2 * contextLines + 1 }, (_, by) => at + by - contextLines),
    ),
  );
  let [old, now] = [1, 1];
  let hunk: DiffLine[] = [];
  let text = '';
  for (const [at, line] of lines.entries()) {
    if (shown.has(at)) hunk.push(line);
    if (line.sign !== '+') old += 1;
    if (line.sign !== '-') now += 1;
    if (hunk.length === 0 || shown.has(at + 1)) continue;
    text += hunkText(hunk, old, now);
    hunk = [];
  }
  return hunk.length === 0 ? text : text + hunkText(hunk, old, now);
}

/** Formats a hunk. `old` and `now` are the line numbers after the hunk. */
function hunkText(hunk: readonly DiffLine[], old: number, now: number): string {
  const removed = hunk.filter(({ sign }) => sign !== '+').length;
  const added = hunk.filter(({ sign }) => sign !== '-').length;
  const range = (end: number, count: number) => `${end - count - (count === 0 ? 1 : 0)},${count}`;
  const lines = hunk.map(({ sign, text }) => `${sign}${text}\n`).join('');
  return `@@ -${range(old, removed)} +${range(now, added)} @@\n${lines}`;
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function compare(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...signed(' ', before.slice(0, start)),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...signed(' ', before.slice(before.length - end)),
  ];
}

function signed(sign: DiffLine['sign'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((text) => ({ sign, text }));
}

/** Compares two lists of lines and keeps their longest common subsequence. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length * after.length > maxPairs) return [...signed('-', before), ...signed('+', after)];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const length = (old: number, now: number) => lengths[old * width + now] ?? 0;
  for (let old = before.length - 1; old >= 0; old -= 1) {
    for (let now = after.length - 1; now >= 0; now -= 1)
      lengths[old * width + now] =
        before[old] === after[now]
          ? length(old + 1, now + 1) + 1
          : Math.max(length(old + 1, now), length(old, now + 1));
  }
  const lines: DiffLine[] = [];
  let [old, now] = [0, 0];
  while (old < before.length || now < after.length) {
    const isSame = old < before.length && now < after.length && before[old] === after[now];
    const isRemoved =
      !isSame && old < before.length && (now === after.length || length(old + 1, now) >= length(old, now + 1));
    lines.push({
      sign: isSame ? ' ' : isRemoved ? '-' : '+',
      text: (isSame || isRemoved ? before[old] : after[now]) ?? '',
    });
    if (isSame || isRemoved) old += 1;
    if (!isRemoved) now += 1;
  }
  return lines;
}
