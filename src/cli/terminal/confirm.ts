import { InvalidInput } from '../../model/errors.ts';
import type { Flags, Invocation } from '../command.ts';
import type { Terminal } from './terminal.ts';

type Call = Pick<Invocation, 'flags' | 'terminal'>;

/** Whether leave is given already, and whether there is somebody to ask. */
interface Asking {
  readonly flags: Call['flags'];
  readonly terminal: Pick<Terminal, 'interactive'>;
}

/** The flag by which nobody is asked. */
export const autoApproveFlag: Flags = { 'auto-approve': { doc: 'Do not ask.' } };

/** Without somebody to ask and without leave to go on, nothing is done at all. Throws `InvalidInput`. */
export function requireConfirmable({ flags, terminal }: Asking, verb: string, what: string): void {
  if (flags['auto-approve'] === true || terminal.interactive) return;
  throw new InvalidInput(
    `There is nobody to ask whether to ${verb} ${what}; add --auto-approve to ${verb} without asking.`,
  );
}

/** Whether to go on: because that was said before, or because somebody says so now. */
export async function isConfirmed({ flags, terminal }: Call, question: string): Promise<boolean> {
  return flags['auto-approve'] === true || (await terminal.confirm(`${question} [y/N] `));
}
