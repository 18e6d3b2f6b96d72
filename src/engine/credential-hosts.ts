import { bindCredential, findCredentialHosts } from '../store/credential-hosts.ts';
import type { Engine } from './engine.ts';

/** A file that a source of an account shows to hosts as a credential. */
export interface ShownFile {
  readonly account: string;
  readonly file: string;
}

/** The hosts that a file is bound to; none before its first use. */
export function boundHosts({ database }: Pick<Engine, 'database'>, { account, file }: ShownFile) {
  return findCredentialHosts(database, account, file);
}

/** Binds a file to the first host that it was shown to. */
export async function bindToHost(
  { database }: Pick<Engine, 'database'>,
  shown: ShownFile,
  host: string,
): Promise<void> {
  await bindCredential(database, { ...shown, host });
}
