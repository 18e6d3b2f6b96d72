import { resolve } from 'node:path';
import type { Engine } from '../../../commit/engine.ts';
import type { Json } from '../../../lib/json.ts';
import { isServerManaged } from '../../../model/sources/spec.ts';
import { defineDirectory, defineUnavailable, type SourceDefinition } from '../definition.ts';
import type { Reporter } from '../loop/report.ts';
import { type NamedSource, nameOfDirectory } from '../names.ts';
import type { CalledSource } from '../scheduled-sources.ts';
import type { SourceFeed } from '../source-feed.ts';
import { openDirectory } from './directory.ts';

/** A directory of the configuration that names its source itself, and the account of the source. */
export interface ConfiguredDirectory {
  readonly account: string;
  readonly source: NamedSource;
}

/** Options for making directories that name their sources into sources. */
export interface DirectorySourcesOptions {
  readonly engine: Engine;
  readonly directories: readonly ConfiguredDirectory[];
  /** The sources that the configuration of the server names. */
  readonly configured: readonly SourceDefinition[];
  readonly report: Reporter;
}

/**
 * Makes directories into sources when their names are known: after the first successful read, because another program
 * may put the files, and the `heddle.yaml` that names the source, into the directory after the start of the server.
 */
export function followDirectories(options: DirectorySourcesOptions): SourceFeed {
  const { directories, configured } = options;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const paths = [...directories.map(({ source }) => source.path), ...configured.flatMap(pathOf)];
  const followed = directories.map((directory) => new FollowedDirectory({ ...directory, paths }, options, notify));
  return {
    definitions(recorded) {
      const taken = new Map(
        configured.map((definition) => [keyOf(definition), `the configured source ${definition.name}`]),
      );
      // A directory whose source runs keeps the name, wherever it is in the list.
      const inOrder = [
        ...followed.filter(({ isDefined }) => isDefined),
        ...followed.filter(({ isDefined }) => !isDefined),
      ];
      return inOrder.flatMap((directory) => {
        const definition = directory.definition(recorded, taken);
        if (definition !== undefined) taken.set(keyOf(definition), directory.path);
        return definition ?? [];
      });
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      await Promise.all(followed.map((directory) => directory.idle()));
    },
  };
}

/** A directory, from the start of the server on. */
class FollowedDirectory {
  readonly #account: string;
  readonly #options: Pick<DirectorySourcesOptions, 'engine' | 'report'>;
  readonly #named: () => void;
  /** The paths of all directories that are sources of this server. */
  readonly #paths: readonly string[];
  #source: NamedSource;
  #isDefined = false;
  #reading: Promise<void> | undefined;
  #counting: Promise<void> | undefined;
  /** Why nothing can be read from the directory. */
  #reason = '';
  #reported = '';

  constructor(
    { account, source, paths }: ConfiguredDirectory & { readonly paths: readonly string[] },
    options: Pick<DirectorySourcesOptions, 'engine' | 'report'>,
    named: () => void,
  ) {
    this.#account = account;
    this.#source = source;
    this.#paths = paths;
    this.#options = options;
    this.#named = named;
  }

  get path(): string {
    return this.#source.path;
  }

  /** Whether `definition` returned a definition the last time. */
  get isDefined(): boolean {
    return this.#isDefined;
  }

  /** Resolves when the directory is not being read, and no objects are counted. */
  async idle(): Promise<void> {
    await Promise.all([this.#reading, this.#counting]);
  }

  /**
   * Returns the definition of the source. Returns `undefined` while its name is not known, and while a source in
   * `taken`, or a recorded source of another type or of another directory of this server, has that name.
   */
  definition(recorded: readonly CalledSource[], taken: ReadonlyMap<string, string>): SourceDefinition | undefined {
    const definition = this.#define(recorded, taken);
    this.#isDefined = definition !== undefined;
    return definition;
  }

  #define(recorded: readonly CalledSource[], taken: ReadonlyMap<string, string>): SourceDefinition | undefined {
    const former = recorded.filter(
      (source) => this.#isRecordOf(source) && !taken.has(`${source.account}/${source.id}`),
    );
    if (this.#source.isUnread === true) return this.#unread(former);
    const definition = defineDirectory(this.#account, this.#source);
    const other = taken.get(keyOf(definition)) ?? this.#describeOwner(definition, recorded);
    if (other === undefined) {
      this.#counting ??= this.#warnOfFormerNames(former.filter(({ id }) => id !== definition.name));
      return definition;
    }
    this.#warn(
      'error',
      `${this.path} is not applied: its source would be called ${definition.name}, like ${other}; name it with --source NAME=${this.path}`,
    );
    return undefined;
  }

  /**
   * Starts to read the directory. Until it can be read, the source that was last recorded for it is unavailable, and
   * keeps its objects.
   */
  #unread([last, another]: readonly CalledSource[]): SourceDefinition | undefined {
    this.#reading ??= this.#readName().finally(() => {
      this.#reading = undefined;
    });
    if (this.#reason === '') return undefined;
    if (last !== undefined && another === undefined) return defineUnavailable(last, this.#reason);
    this.#warn('warn', `--source ${this.path}: ${this.#reason} Its source is named when it can be read.`);
    return undefined;
  }

  /**
   * Reports objects of sources that were recorded for this directory under other names: as long as they belong to these,
   * the source of the directory can neither change nor delete them.
   */
  async #warnOfFormerNames(former: readonly CalledSource[]): Promise<void> {
    const { engine, report } = this.#options;
    const { name, path } = this.#source;
    try {
      const state = former.length === 0 ? undefined : await engine.snapshots.current(this.#account);
      for (const { id } of former) {
        const count = state?.declaredBy(id).length ?? 0;
        if (count === 0) continue;
        const objects = count === 1 ? '1 object still belongs' : `${count} objects still belong`;
        const message = `source ${name}: ${objects} to the source ${id}, the former name of ${path}; release them with \`heddle detach ${id}\``;
        report({ level: 'warn', message });
      }
    } catch {
      // Counted again at the next look.
      this.#counting = undefined;
    }
  }

  #isRecordOf({ account, type, spec }: CalledSource): boolean {
    return (
      account === this.#account &&
      type === 'directory' &&
      isServerManaged(type, spec) &&
      isSamePath(spec['path'], this.path)
    );
  }

  /**
   * Returns a recorded source that has the name of the definition and gets its documents from elsewhere, as text for
   * people. A directory may have moved, unless this server has its former path too; and documents that were pushed may
   * be in a directory now.
   */
  #describeOwner({ account, name }: SourceDefinition, recorded: readonly CalledSource[]): string | undefined {
    const other = recorded.find((source) => source.account === account && source.id === name);
    if (other === undefined || other.type === 'push' || this.#isRecordOf(other)) return undefined;
    if (other.type !== 'directory') return `the ${other.type} source ${name} of the account`;
    const path = this.#paths.find((known) => isSamePath(other.spec['path'], known));
    return path === undefined ? undefined : `the source that was recorded for ${path}`;
  }

  async #readName(): Promise<void> {
    const { path } = this.#source;
    const failed = (error: unknown): void => {
      this.#reason = `"${path}" cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
    };
    try {
      // Waits until the files are not written any more.
      const found = await openDirectory({ path, onError: failed }).peek();
      // The name and the files are of one moment: a `heddle.yaml` that is read later may be only half written.
      const name = found.ok ? nameOfDirectory(path, found) : undefined;
      this.#reason = found.ok ? `"${path}" contains no documents and no heddle.yaml yet.` : found.reason;
      if (name === undefined) return;
      this.#source = { name, path, isNamedByDirectory: true };
    } catch (error) {
      return failed(error);
    }
    this.#named();
  }

  #warn(level: 'warn' | 'error', message: string): void {
    if (message !== this.#reported) this.#options.report({ level, message });
    this.#reported = message;
  }
}

/** Returns the path of a source that is a directory. */
function pathOf({ type, spec: { path } }: SourceDefinition): readonly string[] {
  return type === 'directory' && typeof path === 'string' ? [path] : [];
}

function isSamePath(recorded: Json | undefined, path: string): boolean {
  return typeof recorded === 'string' && resolve(recorded) === resolve(path);
}

function keyOf({ account, name }: SourceDefinition): string {
  return `${account}/${name}`;
}
