/** Message that a thread posts once, when it can take jobs. */
export const readyMessage = 'ready';

/** Message that a thread posts for a job: the answer in parts, or the stack of an error in the program. */
export type Answer = { readonly parts: readonly string[] } | { readonly defect: string };
