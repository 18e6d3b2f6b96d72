import type { Engine } from '../../commit/engine.ts';
import { bindCredential, unbindCredential } from '../../db/sources/credential-hosts.ts';

/** A file that a source of an account shows to hosts as a credential. */
export interface CredentialFile {
  readonly account: string;
  readonly file: string;
}

/** Hosts to which a file may be shown. */
export interface HostBinding {
  readonly hosts: readonly string[];
  /** Removes the binding if this call created it and no other run has relied on it since. */
  release(): Promise<void>;
}

/** Binds a file to a host unless the file is bound already. Returns the hosts to which it is bound now. */
export async function bindToHost(
  { database }: Pick<Engine, 'database'>,
  shown: CredentialFile,
  host: string,
): Promise<HostBinding> {
  const binding = await bindCredential(database, { ...shown, host });
  if (binding === undefined) return { hosts: [], release: async () => undefined };
  const { hosts, isNew, version } = binding;
  return { hosts, release: async () => (isNew ? unbindCredential(database, { ...shown, version }) : undefined) };
}
