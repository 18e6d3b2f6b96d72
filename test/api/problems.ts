import type { Answer } from './setup.ts';

/** The problems of a refusal as `code path`, one a problem. */
export function problemsOf(answer: Answer): readonly string[] {
  return (answer.body.problems ?? []).map(({ code, path }: { code: string; path?: string }) => `${code} ${path ?? ''}`);
}
