import { InvalidInput } from '../../model/errors.ts';
import type { Flags, Invocation } from '../command.ts';
import type { Terminal } from './terminal.ts';

type Call = Pick<Invocation, 'flags' | 'terminal'>;

/** Whether confirmation is given already, and whether a person can be asked. */
interface Confirmable {
  readonly flags: Call['flags'];
  readonly terminal: Pick<Terminal, 'interactive'>;
}

/** The flag that skips the question. */
export const autoApproveFlag: Flags = { 'auto-approve': { doc: 'Do not ask.' } };

/** Without a person to ask and without confirmation, nothing is done at all. Throws `InvalidInput`. */
export function requireConfirmable({ flags, terminal }: Confirmable, verb: string, what: string): void {
  if (flags['auto-approve'] === true || terminal.interactive) return;
  throw new InvalidInput(
    `There is nobody to ask whether to ${verb} ${what}; add --auto-approve to ${verb} without asking.`,
  );
}

/** Whether to go on: because a flag says so, or because the person confirms it now. */
export async function isConfirmed({ flags, terminal }: Call, question: string): Promise<boolean> {
  return flags['auto-approve'] === true || (await terminal.confirm(`${question} [y/N] `));
}
