import { isCommonPassword } from './common-passwords.ts';

/** How many characters a password has; beyond that it only must not be one of those that everybody tries first. */
export const passwordLength = { least: 8, most: 1024 } as const;

/** What is wrong with a new password: the end of a sentence about it; `undefined` when nothing is. */
export function passwordFault(password: unknown): string | undefined {
  if (typeof password !== 'string') return 'is required: a text of at least 8 characters';
  const characters = [...password].length;
  if (characters < passwordLength.least) return `must have at least ${passwordLength.least} characters`;
  if (characters > passwordLength.most) return `must have at most ${passwordLength.most} characters`;
  if (isCommonPassword(password)) return 'must not be one of the most common ones, which are tried first';
  return undefined;
}
