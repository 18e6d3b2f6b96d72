/** What a thread posts once, when it can take jobs. */
export const ready = 'ready';

/** What a thread posts for a job: the answer in parts, or what the program failed at. */
export type Answer = { readonly parts: readonly string[] } | { readonly defect: string };
