import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitCredentials } from '../../../model/sources/schema.ts';
import type { OutboundDestination } from '../../../outbound/checked-addresses.ts';

/** Remote that receives a credential. `namedBy` is who named it, the operator or a user. */
interface Remote extends Pick<OutboundDestination, 'namedBy'> {
  readonly url: string;
  readonly sshOptions: readonly string[];
}

/**
 * Returns the environment variables by which git authenticates. They name files: no secret is in them or on a command
 * line.
 */
export async function prepareCredentials(
  directory: string,
  credentials: GitCredentials | undefined,
  remote: Remote,
): Promise<Readonly<Record<string, string>>> {
  const { username = 'git', passwordFile } = credentials ?? {};
  const command = await sshCommand(directory, credentials ?? {}, remote);
  const ssh = { GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh' };
  if (passwordFile === undefined) return ssh;
  const helper = join(directory, 'askpass');
  await writeFile(helper, askpass);
  await chmod(helper, 0o700);
  return {
    ...ssh,
    GIT_ASKPASS: helper,
    HEDDLE_GIT_HOST: /^https:\/\/([^/]+)/i.exec(remote.url)?.[1] ?? '',
    HEDDLE_GIT_USERNAME: username,
    HEDDLE_GIT_PASSWORD_FILE: passwordFile,
    HEDDLE_GIT_SHOWN: passwordShownPath(directory),
  };
}

/**
 * Returns the path of the file that exists after a password was given to git. The caller of git removes the file before
 * the call.
 */
export function passwordShownPath(directory: string): string {
  return join(directory, 'password-shown');
}

/**
 * Script that git calls when a server asks for a user name or a password. Only git reads its output. The prompt names
 * the host that asks: the script answers only the host of the URL.
 */
const askpass = `#!/bin/sh
case "$1" in
*"//$HEDDLE_GIT_HOST':"* | *"@$HEDDLE_GIT_HOST':"*) ;;
*) exit 1 ;;
esac
case "$1" in
Username*) printf '%s\\n' "$HEDDLE_GIT_USERNAME" ;;
*) : > "$HEDDLE_GIT_SHOWN" && cat "$HEDDLE_GIT_PASSWORD_FILE" ;;
esac
`;

async function sshCommand(
  directory: string,
  { sshKeyFile: keyFile, knownHostsFile }: GitCredentials,
  { namedBy, sshOptions }: Remote,
): Promise<string> {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'ConnectTimeout=20',
    'ControlMaster=no',
    ...sshOptions,
  ];
  if (knownHostsFile !== undefined)
    options.push(`UserKnownHostsFile=${quoteSshValue(knownHostsFile)}`, 'GlobalKnownHostsFile=/dev/null');
  else if (namedBy === 'user' && keyFile === undefined)
    options.push('UserKnownHostsFile=/dev/null', 'GlobalKnownHostsFile=/dev/null');
  if (keyFile !== undefined)
    options.push('IdentitiesOnly=yes', `IdentityFile=${quoteSshValue(await copyKey(directory, keyFile))}`);
  else if (namedBy === 'user') options.push('IdentitiesOnly=yes', 'IdentityFile=none');
  // ssh finds the keys of this server's user on its own, whatever `HOME` is. They belong to the operator.
  if (namedBy === 'user') options.push('IdentityAgent=none');
  return ['ssh', '-F', '/dev/null', ...options.flatMap((option) => ['-o', quoted(option)])].join(' ');
}

/**
 * Copies the key to a file with mode 0600. ssh refuses a key that other users can read, and mounted secrets often are.
 */
async function copyKey(directory: string, keyFile: string): Promise<string> {
  const path = join(directory, 'ssh-key');
  const key = await readFile(keyFile);
  await rm(path, { force: true });
  await writeFile(path, key, { mode: 0o600 });
  return path;
}

/** Quotes a path as a value of an ssh option. */
function quoteSshValue(path: string): string {
  if (path.includes('"')) throw new Error(`ssh does not accept a path that contains a quote: ${path}`);
  return `"${path.replaceAll('%', '%%')}"`;
}

/** Quotes a word for the shell in which git starts ssh. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
