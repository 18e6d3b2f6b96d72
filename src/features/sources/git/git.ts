import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createDirectory } from '../../../db/embedded/disk.ts';
import { parseRemote, type Transport } from '../../../model/remote-url.ts';
import { type GitConfig, maxApiSizeMiB } from '../../../model/sources/schema.ts';
import type { CommitInfo } from '../../../model/state/object.ts';
import type { Fetched, Origin } from '../files/origin.ts';
import { Unreadable } from '../files/snapshot.ts';
import type { Permission } from '../permission.ts';
import { passwordShownPath, prepareCredentials } from './credentials.ts';
import type { GitSlots } from './git-slots.ts';
import { type GitNetworkOptions, openGitNetwork } from './network.ts';
import { type GitCall, type GitRun, runGit } from './program.ts';
import { findTree, type GitTree, type Plumbing, readTree, shortId } from './tree.ts';

/** Options for a Git repository as a source of documents. Files in `config` are paths of this server. */
export interface GitOptions {
  readonly account: string;
  readonly config: GitConfig;
  /** Directory that only this source uses. Its content can be restored from the remote. */
  readonly directory: string;
  readonly transports: readonly Transport[];
  /** How the remote is reached, and who named it. */
  readonly network: Omit<GitNetworkOptions, 'url'>;
  /** Decides whether the source may use the files that it names. */
  readonly permission: Permission;
  /** Variables of the server's environment that git may see: the paths of programs, and certificates. */
  readonly environment: Readonly<Record<string, string>>;
  /** Decides when processes of the source may run. */
  readonly slots: GitSlots;
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

const headTimeoutMs = 60_000;
const fetchTimeoutMs = 300_000;
const localTimeoutMs = 60_000;
const defaultMaxSizeMiB = 512;
/** Git reference that keeps the fetched commit. */
const fetchedRef = 'refs/heddle/head';

/** Opens a repository as an origin. Nothing is checked out: documents are read from the commit itself. */
export function openGit(options: GitOptions): Origin {
  return new GitOrigin(options);
}

class GitOrigin implements Origin {
  readonly #options: GitOptions;
  #stopping = new AbortController();
  #lastCall: Promise<unknown> = Promise.resolve();
  #seenCommit: string | undefined;
  #lastTree: { readonly id: string; readonly tree: GitTree } | undefined;

  constructor(options: GitOptions) {
    this.#options = options;
  }

  async fetch({ commit: before }: { readonly commit?: string | undefined } = {}): Promise<Fetched> {
    const fetched = await this.peek(before);
    this.#seenCommit = fetched.ok ? fetched.commit : 'unreadable';
    return fetched;
  }

  peek(before?: string): Promise<Fetched> {
    return this.#runExclusively(() => this.#readCommit(before));
  }

  watch(changed: () => void): () => Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    let asking: Promise<void> = Promise.resolve();
    const ask = async (): Promise<void> => {
      const head = await this.#runExclusively(() => this.#readRemoteHead()).catch(() => 'unreadable');
      if (!ended && head !== this.#seenCommit) changed();
    };
    const next = (): void => {
      // The interval is randomized, so that many sources do not query one server at the same moment.
      const wait = this.#options.pollMs * (0.9 + Math.random() / 5);
      timer = setTimeout(() => {
        asking = ask()
          .catch(this.#options.onError)
          .finally(() => (ended ? undefined : next()));
      }, wait);
    };
    next();
    return async () => {
      ended = true;
      clearTimeout(timer);
      this.#stopping.abort();
      await asking;
      await this.#lastCall;
      // The origin may be watched again, when another server gives the source back.
      this.#stopping = new AbortController();
    };
  }

  /** Runs the calls that use the directory one after the other. */
  #runExclusively<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#lastCall.then(work);
    this.#lastCall = done.catch(() => undefined);
    return done;
  }

  async #readCommit(before: string | undefined): Promise<Fetched> {
    try {
      const commit = await this.#fetchCommit(before);
      const { path = '' } = this.#options.config;
      const top = path.replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '');
      const id = await findTree(this.#plumbing, commit, top);
      const request = { id, path: top, globs: this.#options.config };
      if (this.#lastTree?.id !== id) this.#lastTree = { id, tree: await readTree(this.#plumbing, request) };
      const { files, digest, selection } = this.#lastTree.tree;
      return { ok: true, files, digest, selection, warnings: [], commit, commitInfo: await this.#describe(commit) };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { ok: false, reason: `${this.#options.config.url}: ${error.message}` };
    }
  }

  /** Returns the commit of the remote reference, after fetching and checking it. */
  async #fetchCommit(before: string | undefined): Promise<string> {
    const head = await this.#readRemoteHead();
    const known = await this.#runLocal(['rev-parse', '--verify', '--quiet', `${fetchedRef}^{commit}`], {
      mayFail: true,
    });
    const present = known.code === 0 ? known.output.toString('utf8').trim() : undefined;
    const commit = present === head ? head : await this.#fetchHead();
    if (this.#options.config.requireFastForward === true && before !== undefined)
      await this.#requireDescent(before, commit);
    if (this.#options.config.verifySignatures !== undefined) await this.#requireSignature(commit);
    return commit;
  }

  /**
   * Returns the author of a commit and the first line of its message, each as one printable line of at most 200
   * characters.
   */
  async #describe(commit: string): Promise<CommitInfo> {
    const { output } = await this.#runLocal(['log', '-1', '--no-show-signature', '--format=%an%x00%s', commit, '--']);
    const [author = '', subject = ''] = output.toString('utf8').split('\0');
    const line = (text: string) =>
      text
        .replace(/[\p{C}\s]+/gu, ' ')
        .trim()
        .slice(0, 200);
    return { author: line(author), subject: line(subject) };
  }

  /**
   * Returns the commit id of the reference at the remote. For an annotated tag, this is the commit that the tag names.
   */
  async #readRemoteHead(): Promise<string> {
    const { url } = this.#options.config;
    const ref = this.#ref();
    const asked = ['ls-remote', '--exit-code', '--end-of-options', url, ref, `${ref}^{}`];
    const { code, output, errorText } = await this.#runRemote(asked, { timeoutMs: headTimeoutMs });
    if (code === 2) throw new Unreadable(`it has no ${ref}; correct \`branch\` or \`ref\`.`);
    if (code !== 0)
      throw new Unreadable(`it cannot be reached (${errorText}); see whether \`url\` and \`credentials\` are right.`);
    const found = output
      .toString('utf8')
      .split('\n')
      .map((line) => line.split('\t'));
    const idOf = (name: string) => found.find(([, other]) => other === name)?.[0];
    const id = idOf(`${ref}^{}`) ?? idOf(ref);
    if (id === undefined || !/^[0-9a-f]{40,64}$/.test(id)) throw new Unreadable(`it has no ${ref}; correct \`ref\`.`);
    return id;
  }

  #ref(): string {
    const { branch, ref } = this.#options.config;
    return ref ?? (branch === undefined ? 'HEAD' : `refs/heads/${branch}`);
  }

  async #fetchHead(): Promise<string> {
    const { url, requireFastForward, maxSizeMiB = defaultMaxSizeMiB } = this.#options.config;
    // Descent can only be checked with the full history.
    const depth = requireFastForward === true ? [] : ['--depth=1'];
    const source = `+${this.#ref()}:${fetchedRef}`;
    const args = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', ...depth];
    const most = maxSizeMiB * 1024 * 1024;
    const repository = join(this.#options.directory, 'repository');
    // Commits that no reference names any more accumulate. Before they reach the size limit, the repository is deleted
    // and fetched again.
    if ((await sizeOf(repository)) > most / 2) await rm(repository, { recursive: true, force: true });
    const tooMuch = async () =>
      (await sizeOf(repository)) > most
        ? `it takes up more than ${maxSizeMiB} MiB; raise \`maxSizeMiB\` (at most ${maxApiSizeMiB} for a source of the API, more in the settings file of the server), or keep documents in a separate repository.`
        : undefined;
    try {
      const { code, errorText } = await this.#runRemote([...args, '--end-of-options', url, source], {
        timeoutMs: fetchTimeoutMs,
        tooMuch,
      });
      if (code !== 0) throw new Unreadable(`it cannot be fetched (${errorText}).`);
      const reason = await tooMuch();
      if (reason !== undefined) throw new Unreadable(reason);
    } catch (error) {
      // The remains of a failed fetch are not worth keeping.
      await rm(repository, { recursive: true, force: true });
      throw error;
    }
    const { output } = await this.#runLocal(['rev-parse', '--verify', `${fetchedRef}^{commit}`]);
    return output.toString('utf8').trim();
  }

  async #requireDescent(before: string, commit: string): Promise<void> {
    if (before === commit) return;
    const { code } = await this.#runLocal(['merge-base', '--is-ancestor', before, commit], { mayFail: true });
    if (code === 0) return;
    throw new Unreadable(
      `commit ${shortId(commit)} does not descend from ${shortId(before)}, which was applied last, and \`requireFastForward\` is set; push a commit that does, or remove the setting temporarily.`,
    );
  }

  async #requireSignature(commit: string): Promise<void> {
    const { allowedSignersFile = '' } = this.#options.config.verifySignatures ?? {};
    const settings = [
      `gpg.ssh.allowedSignersFile=${allowedSignersFile}`,
      'gpg.ssh.program=ssh-keygen',
      'gpg.minTrustLevel=fully',
      // Only SSH keys count, whatever programs are installed.
      'gpg.program=false',
      'gpg.x509.program=false',
    ];
    const args = [...settings.flatMap((setting) => ['-c', setting]), 'verify-commit', commit];
    const { code, errorText } = await this.#runLocal(args, { mayFail: true });
    if (code === 0) return;
    const why = errorText === '' ? 'it has no signature' : errorText;
    throw new Unreadable(`commit ${shortId(commit)} is not signed by any of the allowed signers (${why}).`);
  }

  /** Runs a command that talks to the remote. Throws `Unreadable` when the source may not use its files. */
  async #runRemote(args: readonly string[], call: Pick<GitCall, 'timeoutMs' | 'tooMuch'>): Promise<GitRun> {
    await this.#prepare();
    const mark = passwordShownPath(this.#options.directory);
    await rm(mark, { force: true });
    const { refusal, releaseUnshown } = await this.#options.permission.request();
    if (refusal !== undefined) throw new Unreadable(refusal);
    let isShown = false;
    try {
      const transport = parseRemote(this.#options.config.url)?.transport;
      const run = await this.#runConnected(args, call, () => {
        isShown = true;
      });
      // Whether git asked for the credential is known only for a password.
      isShown = run.code === 0 || transport !== 'https' || (await exists(mark));
      return run;
    } finally {
      if (!isShown) await releaseUnshown();
    }
  }

  async #runConnected(
    args: readonly string[],
    call: Pick<GitCall, 'timeoutMs' | 'tooMuch'>,
    begins: () => void,
  ): Promise<GitRun> {
    const { config, directory, transports } = this.#options;
    const { url } = config;
    const { namedBy } = this.#options.network;
    const network = await openGitNetwork({ ...this.#options.network, url });
    const transport = parseRemote(url)?.transport;
    try {
      const { sshOptions } = network;
      const credentials = await prepareCredentials(directory, config.credentials, { url, sshOptions, namedBy }).catch(
        (cause: Error) => {
          throw new Unreadable(`its credentials cannot be read (${cause.message}).`, { cause });
        },
      );
      // Only the transport of the URL is allowed, whatever the remote redirects to.
      const allowed = transports.filter((one) => one === transport).join(':');
      begins();
      const run = await this.#run({
        ...call,
        args,
        env: { ...credentials, ...network.env, GIT_ALLOW_PROTOCOL: allowed },
      });
      const reason = run.code === 0 ? undefined : network.reason();
      return reason === undefined ? run : { ...run, errorText: reason };
    } finally {
      network.close();
      await rm(join(directory, 'ssh-key'), { force: true });
    }
  }

  /** Runs a command that only reads the local repository, and never contacts a remote. */
  readonly #runLocal = async (args: readonly string[], options: Parameters<Plumbing>[1] = {}): Promise<GitRun> => {
    const { mayFail, ...call } = options;
    const run = await this.#run({ ...call, args, timeoutMs: localTimeoutMs, env: { GIT_ALLOW_PROTOCOL: '' } });
    if (run.code !== 0 && mayFail !== true) throw new Unreadable(`git ${args[0]} failed (${run.errorText}).`);
    return run;
  };

  readonly #plumbing: Plumbing = this.#runLocal;

  #run(call: Omit<GitCall, 'directory'>): Promise<GitRun> {
    const { directory, environment } = this.#options;
    const repository = join(directory, 'repository');
    const args = [`--git-dir=${repository}`, ...call.args];
    const { signal } = this.#stopping;
    return this.#runInSlot(() => runGit({ ...call, args, directory, signal }, environment));
  }

  /** Runs a process when a slot is free. */
  #runInSlot(work: () => Promise<GitRun>): Promise<GitRun> {
    const { account, slots } = this.#options;
    const { signal } = this.#stopping;
    return slots.run(account, signal, work).catch((cause: unknown) => {
      if (!signal.aborted || cause instanceof Unreadable) throw cause;
      throw new Unreadable('the server stops.', { cause });
    });
  }

  /** Creates the repository if it does not exist, with only what git needs. */
  async #prepare(): Promise<void> {
    const { directory, environment } = this.#options;
    const repository = join(directory, 'repository');
    if (await exists(join(repository, 'HEAD'))) return;
    await createDirectory(directory, 0o700).catch((cause: Error) => {
      throw unmadeRepository(cause.message, { cause });
    });
    const args = ['init', '--quiet', '--bare', '--template=', repository];
    const { code, errorText } = await this.#runInSlot(() =>
      runGit({ directory, args, timeoutMs: localTimeoutMs }, environment),
    );
    if (code !== 0) throw unmadeRepository(errorText);
  }
}

function unmadeRepository(reason: string, options?: ErrorOptions): Unreadable {
  return new Unreadable(`a repository cannot be made in the data directory (${reason}).`, options);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Returns the size of the files of a repository, in bytes, including packs that are being written. */
async function sizeOf(repository: string): Promise<number> {
  const entries = await readdir(repository, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    // A file that has been deleted since the listing counts as empty.
    .map((entry) =>
      stat(join(entry.parentPath, entry.name))
        .then(({ size }) => size)
        .catch(() => 0),
    );
  return (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
}
