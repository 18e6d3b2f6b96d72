import { plainHost } from '../../lib/net/public-address.ts';
import { parseRemote } from '../../model/remote-url.ts';
import type { ValuePolicy } from '../../model/schema/value-policy.ts';
import type { GitConfig } from '../../model/sources/schema.ts';
import type { HostBinding, ShownFile } from './credential-hosts.ts';

/** Which files of the directory of values are for sources that the API made. */
export interface FilePermissions {
  readonly policy: ValuePolicy;
  /** Binds a file to a host unless it is bound already; returns what it is bound to now. */
  bindToHost(shown: ShownFile, host: string): Promise<HostBinding>;
}

/** A source that the API made; its files are names in the directory of values. */
export interface FileUser {
  readonly account: string;
  readonly name: string;
  readonly config: GitConfig;
}

/** Asks whether a source may use its files. */
export interface Permission {
  /** Asks for one run. Files are bound to the host before it sees them: it may take them and answer nothing. */
  ask(): Promise<Leave>;
}

/** What a source was answered that asked. */
interface Leave {
  /** Why it may not use its files; `undefined` when it may. */
  readonly refusal: string | undefined;
  /** To be called when the host saw none of them after all: a host that was misspelt then binds nothing. */
  notShown(): Promise<void>;
}

const granted: Leave = { refusal: undefined, notShown: async () => undefined };

/** The permission of a source that the server's own configuration states: it names paths of the server. */
export const ofOperator: Permission = { ask: async () => granted };

/** The permission of a source that the API made. */
export function permissionOf(user: FileUser, permissions: FilePermissions): Permission {
  const { account, config } = user;
  const host = hostOf(config);
  const unbound = credentialsOf(config).filter(
    (file) => permissions.policy.credentialHosts({ account, source: user.name, file }) === undefined,
  );
  return {
    async ask() {
      const refused = fileRefusal(user, permissions.policy);
      if (refused !== undefined) return { ...granted, refusal: refused.reason };
      if (host === undefined) return granted;
      const bindings: HostBinding[] = [];
      const notShown = async () => {
        for (const binding of bindings) await binding.release();
      };
      for (const file of unbound) {
        const binding = await permissions.bindToHost({ account, file }, host);
        bindings.push(binding);
        if (binding.hosts.includes(host)) continue;
        await notShown();
        return { ...granted, refusal: describeBound(user, file, host, binding.hosts) };
      }
      return { refusal: undefined, notShown };
    },
  };
}

/** The first file that the operator's settings do not let a source use, and why; `undefined` when there is none. */
export function fileRefusal(
  { account, name, config }: FileUser,
  policy: ValuePolicy,
): { readonly file: string; readonly reason: string } | undefined {
  const host = hostOf(config);
  for (const file of credentialsOf(config)) {
    const hosts = policy.credentialHosts({ account, source: name, file });
    if (hosts === undefined || (host !== undefined && hosts.includes(host))) continue;
    const grant = `${account}/${name}=file:${file}@${host ?? 'HOST'}`;
    return { file, reason: `${file} may not be shown to ${host ?? 'files'} by this source; ${ask(grant)}` };
  }
  for (const file of othersOf(config)) {
    if (policy.mayUse({ account, source: name, isPushed: false, value: `file:${file}` })) continue;
    return { file, reason: `${file} is not for this source; ${ask(`${account}/${name}=file:${file}`)}` };
  }
  return undefined;
}

function describeBound({ account, name }: FileUser, file: string, host: string, hosts: readonly string[]): string {
  const grant = `${account}/${name}=file:${file}@${host}`;
  return `${file} is a credential for ${hosts.join(', ')}, where it was used first, and is not shown to ${host}; ${ask(grant)}`;
}

function ask(grant: string): string {
  return `the operator can allow it with HEDDLE_VALUE_GRANTS (${grant})`;
}

function hostOf({ url }: GitConfig): string | undefined {
  const host = parseRemote(url)?.host;
  return host === undefined ? undefined : plainHost(host);
}

/** What is shown to the remote. */
function credentialsOf({ credentials }: GitConfig): readonly string[] {
  return [credentials?.passwordFile, credentials?.sshKeyFile].filter((file) => file !== undefined);
}

/** Files and values that are read here and never shown. */
function othersOf({ credentials, webhook, verifySignatures }: GitConfig): readonly string[] {
  const files = [credentials?.knownHostsFile, webhook?.secretFile, verifySignatures?.allowedSignersFile];
  return files.filter((file) => file !== undefined);
}
