import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitCredentials } from '../../../model/sources/schema.ts';
import type { Target } from '../../../outbound/guard.ts';

/** Who a credential is for, and on whose word. */
interface Remote extends Pick<Target, 'namedBy'> {
  readonly url: string;
  readonly sshOptions: readonly string[];
}

/** Variables by which git proves who asks. They name files: no secret is among them, nor on any command line. */
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
    HEDDLE_GIT_SHOWN: shownMark(directory),
  };
}

/** The file that exists once a password was given to git; the caller of git removes it before. */
export function shownMark(directory: string): string {
  return join(directory, 'password-shown');
}

/**
 * What git calls when a server asks for a name or a password; what it writes goes to git alone. The question names the
 * host that asks: another one than that of the URL gets nothing.
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
    options.push(`UserKnownHostsFile=${asValue(knownHostsFile)}`, 'GlobalKnownHostsFile=/dev/null');
  else if (namedBy === 'user' && keyFile === undefined)
    options.push('UserKnownHostsFile=/dev/null', 'GlobalKnownHostsFile=/dev/null');
  if (keyFile !== undefined)
    options.push('IdentitiesOnly=yes', `IdentityFile=${asValue(await ownCopy(directory, keyFile))}`);
  else if (namedBy === 'user') options.push('IdentitiesOnly=yes', 'IdentityFile=none');
  // ssh finds the keys of this server's user by itself, whatever HOME says: they are the operator's.
  if (namedBy === 'user') options.push('IdentityAgent=none');
  return ['ssh', '-F', '/dev/null', ...options.flatMap((option) => ['-o', quoted(option)])].join(' ');
}

/** ssh refuses a key that others may read, as mounted secrets often are. */
async function ownCopy(directory: string, keyFile: string): Promise<string> {
  const path = join(directory, 'ssh-key');
  const key = await readFile(keyFile);
  await rm(path, { force: true });
  await writeFile(path, key, { mode: 0o600 });
  return path;
}

/** One path as ssh reads it in its settings. */
function asValue(path: string): string {
  if (path.includes('"')) throw new Error(`ssh cannot be given a path with a quote in it: ${path}`);
  return `"${path.replaceAll('%', '%%')}"`;
}

/** One word for the shell that git starts ssh with. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
