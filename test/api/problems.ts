import type { Answer } from './setup.ts';

/** Returns the problems of a refusal, each as `code path`. */
export function problemsOf(answer: Answer): readonly string[] {
  return (answer.body.problems ?? []).map(({ code, path }: { code: string; path?: string }) => `${code} ${path ?? ''}`);
}
