import { Resolver } from 'node:dns/promises';

/** How long one name server may take, and how often each is asked. */
const limits = { timeout: 2000, tries: 2 };

/** DNS says that there is nothing: an answer, not a failure. */
const nothing: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** The texts of the TXT records of a name, each in one piece, by the name servers of this machine. */
export async function resolveTxt(name: string): Promise<readonly string[]> {
  try {
    const records = await new Resolver(limits).resolveTxt(name);
    return records.map((pieces) => pieces.join(''));
  } catch (error) {
    if (nothing.has((error as NodeJS.ErrnoException).code)) return [];
    throw error;
  }
}
