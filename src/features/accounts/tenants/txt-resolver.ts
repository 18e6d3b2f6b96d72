import { Resolver } from 'node:dns/promises';
import { codeOf } from '../../../lib/error-code.ts';

/** How long one name server may take, and how often each is asked. */
const limits = { timeout: 2000, tries: 2 };

/** DNS says that there is nothing: an answer, not a failure. */
const nothing: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** Looks for the texts of the TXT records of a name, each in one piece; asks the name servers of this machine, or others. */
export function createTxtResolver(servers?: readonly string[]): (name: string) => Promise<readonly string[]> {
  return async (name) => {
    // A resolver of its own for each question: what one remembers would hide a record that was just added.
    const resolver = new Resolver(limits);
    if (servers !== undefined) resolver.setServers(servers);
    try {
      const records = await resolver.resolveTxt(name);
      return records.map((pieces) => pieces.join(''));
    } catch (error) {
      if (nothing.has(codeOf(error))) return [];
      throw error;
    }
  };
}
