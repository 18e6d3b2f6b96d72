/** Whether a text has more characters than a limit, which counts characters instead of UTF-16 code units. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  // A character has at most two code units, so most long texts need no counting.
  return text.length > 2 * limit || [...text].length > limit;
}
