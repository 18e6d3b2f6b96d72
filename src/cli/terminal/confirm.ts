import { InvalidInput } from '../../model/errors.ts';
import type { Flags, Invocation } from '../command.ts';
import type { Terminal } from './terminal.ts';

type Call = Pick<Invocation, 'flags' | 'terminal'>;

/** Flags and terminal that determine whether the user has confirmed already or can be asked. */
interface Confirmable {
  readonly flags: Call['flags'];
  readonly terminal: Pick<Terminal, 'interactive'>;
}

/** Flag `--auto-approve`, which skips the question. */
export const autoApproveFlag: Flags = { 'auto-approve': { doc: 'Do not ask.' } };

/** Throws `InvalidInput` when the action is not confirmed by a flag and there is no user to ask. */
export function requireConfirmable({ flags, terminal }: Confirmable, verb: string, what: string): void {
  if (flags['auto-approve'] === true || terminal.interactive) return;
  throw new InvalidInput(
    `No terminal is available to confirm whether to ${verb} ${what}; add --auto-approve to ${verb} without asking.`,
  );
}

/** Returns whether the action is confirmed, by a flag or by the user's answer. */
export async function isConfirmed({ flags, terminal }: Call, question: string): Promise<boolean> {
  return flags['auto-approve'] === true || (await terminal.confirm(`${question} [y/N] `));
}
