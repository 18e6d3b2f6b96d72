import { normalizeHost } from '../../lib/net/public-address.ts';
import { parseRemote } from '../../model/remote-url.ts';
import type { ValuePolicy } from '../../model/schema/value-policy.ts';
import type { GitConfig } from '../../model/sources/schema.ts';
import type { CredentialFile, HostBinding } from './credential-hosts.ts';

/** Decides which files of the values directory may be used by sources that were made over the API. */
export interface FilePermissions {
  readonly policy: ValuePolicy;
  /** Binds a file to a host unless it is bound already. Returns the current binding. */
  bindToHost(shown: CredentialFile, host: string): Promise<HostBinding>;
}

/** A source that was made over the API. Its files are names in the values directory. */
export interface FileUsingSource {
  readonly account: string;
  readonly name: string;
  readonly config: GitConfig;
}

/** Permission of a source to use its files. */
export interface Permission {
  /**
   * Requests the permission for one run. Files are bound to the host before the host sees them, because it may keep
   * them without answering.
   */
  request(): Promise<PermissionAnswer>;
}

/** Answer to a request for permission. */
interface PermissionAnswer {
  /** Why the source may not use its files. `undefined`: it may. */
  readonly refusal: string | undefined;
  /** Must be called when the host did not see any of the files, so that a misspelt host does not bind them. */
  releaseUnshown(): Promise<void>;
}

const granted: PermissionAnswer = { refusal: undefined, releaseUnshown: async () => undefined };

/** Permission of a source in the server's own configuration, which names paths of the server. It is always granted. */
export const operatorPermission: Permission = { request: async () => granted };

/** Returns the permission of a source that was made over the API. */
export function permissionOf(user: FileUsingSource, permissions: FilePermissions): Permission {
  const { account, config } = user;
  const host = hostOf(config);
  const unbound = credentialsOf(config).filter(
    (file) => permissions.policy.credentialHosts({ account, source: user.name, file }) === undefined,
  );
  return {
    async request() {
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
      return { refusal: undefined, releaseUnshown: notShown };
    },
  };
}

/**
 * Returns the first file that the operator's settings do not let a source use, and the reason. Returns `undefined` when
 * there is none.
 */
export function fileRefusal(
  { account, name, config }: FileUsingSource,
  policy: ValuePolicy,
): { readonly file: string; readonly reason: string } | undefined {
  const host = hostOf(config);
  for (const file of credentialsOf(config)) {
    const hosts = policy.credentialHosts({ account, source: name, file });
    if (hosts === undefined || (host !== undefined && hosts.includes(host))) continue;
    const grant = `${account}/${name}=file:${file}@${host ?? 'HOST'}`;
    return { file, reason: `${file} may not be used for ${host ?? 'files'} by this source; ${grantHint(grant)}` };
  }
  for (const file of unshownFilesOf(config)) {
    if (policy.mayUse({ account, source: name, isPushed: false, value: `file:${file}` })) continue;
    return { file, reason: `this source may not use ${file}; ${grantHint(`${account}/${name}=file:${file}`)}` };
  }
  return undefined;
}

function describeBound(
  { account, name }: FileUsingSource,
  file: string,
  host: string,
  hosts: readonly string[],
): string {
  const grant = `${account}/${name}=file:${file}@${host}`;
  return `${file} is a credential for ${hosts.join(', ')}, where it was first used, and is not sent to ${host}; ${grantHint(grant)}`;
}

function grantHint(grant: string): string {
  return `the operator can allow it with HEDDLE_VALUE_GRANTS (${grant})`;
}

function hostOf({ url }: GitConfig): string | undefined {
  const host = parseRemote(url)?.host;
  return host === undefined ? undefined : normalizeHost(host);
}

/** Returns the files that are shown to the remote. */
function credentialsOf({ credentials }: GitConfig): readonly string[] {
  return [credentials?.passwordFile, credentials?.sshKeyFile].filter((file) => file !== undefined);
}

/** Returns the files that are only read by this server, and never shown. */
function unshownFilesOf({ credentials, webhook, verifySignatures }: GitConfig): readonly string[] {
  const files = [credentials?.knownHostsFile, webhook?.secretFile, verifySignatures?.allowedSignersFile];
  return files.filter((file) => file !== undefined);
}
