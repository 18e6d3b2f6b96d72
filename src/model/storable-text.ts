/** Whether Postgres can store a text: it has neither NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Returns a text without the characters that Postgres cannot store. */
export function withoutUnstorable(text: string): string {
  return isStorable(text) ? text : text.replace(/\0|\p{Surrogate}/gu, '');
}
