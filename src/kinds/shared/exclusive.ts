import type { Fault } from '../../model/declare/kind.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';

/** Which of two members a spec has. */
export interface Pair {
  readonly first: readonly [name: string, given: boolean];
  readonly second: readonly [name: string, given: boolean];
}

/** Exactly one of two members must be given. */
export function exactlyOne(code: ProblemCode, { first, second }: Pair): readonly Fault[] {
  const [[one, hasOne], [other, hasOther]] = [first, second];
  if (hasOne !== hasOther) return [];
  const message = hasOne
    ? `\`${one}\` and \`${other}\` exclude each other; keep one of them`
    : `\`${one}\` and \`${other}\` are both missing; give one of them`;
  return [{ code, path: hasOne ? `/${other}` : '', message }];
}
