/** What the worker posts once, when it can take texts. */
export const ready = 'ready';
