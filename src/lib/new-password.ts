import { isCommonPassword } from './common-passwords.ts';

/**
 * Minimum and maximum length of a password, in characters. The only other rule is that a password must not be a common
 * one.
 */
export const passwordLength = { least: 8, most: 1024 } as const;

/**
 * Returns what is wrong with a new password, as the end of a sentence about it. Returns `undefined` for a good
 * password.
 */
export function passwordFault(password: unknown): string | undefined {
  if (typeof password !== 'string') return 'is required: a text of at least 8 characters';
  const characters = [...password].length;
  if (characters < passwordLength.least) return `must have at least ${passwordLength.least} characters`;
  if (characters > passwordLength.most) return `must have at most ${passwordLength.most} characters`;
  if (isCommonPassword(password)) return 'must not be a common one, because attackers try these first';
  return undefined;
}
