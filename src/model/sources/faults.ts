import { parseDuration } from '../../lib/duration.ts';
import { asTextOrEmpty, type JsonObject } from '../../lib/json.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Fault } from '../declare/kind.ts';
import { parseRemote, type Transport } from '../remote-url.ts';
import { createChecker } from '../schema/validation/validate.ts';
import { patternFaults } from './file-rules.ts';
import { apiSourceSchemas, type GitConfig, intervalLimits, type SourceConfig, sourceNameFault } from './schema.ts';

/**
 * Returns the faults of a source of any type that the schema cannot express. `kinds`: kinds that documents may have.
 */
export function sourceFaults(
  source: SourceConfig & { readonly name?: string },
  kinds: readonly string[],
): readonly Fault[] {
  const named = source.name === undefined ? undefined : sourceNameFault(source.name);
  return [
    ...(named === undefined ? [] : [{ code: 'name_invalid', path: '/name', message: named } as const]),
    ...durationFault('/interval', source.interval),
    ...globFaults('include', source.include),
    ...globFaults('exclude', source.exclude),
    ...(source.scope?.kinds ?? []).flatMap((kind, at) => kindFault(kind, at, kinds)),
  ];
}

function globFaults(name: 'include' | 'exclude', patterns: readonly string[] = []): readonly Fault[] {
  return patternFaults(name, patterns).map(({ at, message }) => ({
    code: 'pattern_invalid',
    path: `/${name}/${at}`,
    message: `\`${name}\`: ${message}`,
  }));
}

function kindFault(kind: string, at: number, kinds: readonly string[]): readonly Fault[] {
  if (kinds.includes(kind)) return [];
  const guess = nearest(kind, kinds);
  const hint = guess === undefined ? `known are ${kinds.join(', ')}` : `did you mean \`${guess}\`?`;
  return [{ code: 'kind_unknown', path: `/scope/kinds/${at}`, message: `unknown kind \`${kind}\`; ${hint}` }];
}

function durationFault(path: string, text: string | undefined): readonly Fault[] {
  if (text === undefined) return [];
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds >= intervalLimits.least && seconds <= intervalLimits.most) return [];
  const name = path.slice(1);
  return [
    { code: 'duration_invalid', path, message: `\`${name}\` is \`${text}\`; write a time from 10s to 24h such as 5m` },
  ];
}

/**
 * Returns the transport of a repository URL, or the fault of the URL. Other transports than `https` and `ssh` must be
 * listed in `allowed`.
 */
function transportOf(url: string, allowed: readonly Transport[]): Transport | { readonly fault: string } {
  const fault = (what: string) => ({
    fault: `\`url\` ${what}; write https://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH`,
  });
  // Git would read a URL that begins with a dash as an option, and `::` as the name of a helper program.
  if (/^-|::|[\s\0]/.test(url)) return fault('is not the address of a repository');
  if (/^[\w.-]+@[\w.-]+:(?!\/\/)[^\s]+$/.test(url)) return 'ssh';
  const parsed = URL.parse(url);
  if (parsed === null) return fault('is not the address of a repository');
  const transport = parsed.protocol.slice(0, -1);
  if (transport !== 'https' && transport !== 'ssh' && transport !== 'file')
    return fault(`uses ${transport}, which is not allowed`);
  if (!allowed.includes(transport))
    return {
      fault: `\`url\` uses ${transport}, which is not in the server setting HEDDLE_GIT_TRANSPORTS; ask the operator of the server to add it, or use one of ${allowed.join(', ')}`,
    };
  if (parsed.password !== '') return fault('contains a password, which would be shown wherever the source is shown');
  if (transport === 'https' && parsed.username !== '') return fault('names a user; write the name into `credentials`');
  if (parsed.search !== '' || parsed.hash !== '') return fault('has a query or a fragment');
  return transport;
}

/** Returns the faults of a Git source that the schema cannot express. */
export function gitFaults(git: GitConfig, allowed: readonly Transport[]): readonly Fault[] {
  const transport = transportOf(git.url, allowed);
  const faults: Fault[] = [...durationFault('/pollInterval', git.pollInterval)];
  const add = (path: string, message: string) => faults.push({ code: 'value_invalid', path, message });
  if (typeof transport === 'object') add('/url', transport.fault);
  if (git.branch !== undefined && git.ref !== undefined) add('/ref', 'write `branch` or `ref`, not both');
  if (git.branch !== undefined && !isRefName(git.branch)) add('/branch', '`branch` is not a valid branch name');
  if (git.ref !== undefined && !(git.ref.startsWith('refs/') && isRefName(git.ref)))
    add('/ref', '`ref` is not a full ref name; write one such as refs/tags/live');
  if (git.path !== undefined && !isInside(git.path))
    add('/path', '`path` must be inside the repository; write it without a leading slash and without `..`');
  const { passwordFile, sshKeyFile, knownHostsFile } = git.credentials ?? {};
  if (transport === 'ssh' && passwordFile !== undefined)
    add('/credentials/passwordFile', 'a password works only with https; use `sshKeyFile` for ssh');
  if (transport === 'https' && (sshKeyFile ?? knownHostsFile) !== undefined)
    add('/credentials', 'a key works only with ssh; use `passwordFile` for https');
  return faults;
}

const checkers = new Map(Object.entries(apiSourceSchemas).map(([type, schema]) => [type, createChecker(schema)]));

/** Rules for sources that are created through the API. */
export interface ApiSourceRules {
  readonly kinds: readonly string[];
  readonly transports: readonly Transport[];
  /**
   * Returns why the server does not connect to a host, as far as the host name alone decides; `undefined` when it does.
   */
  refusesHost(host: string): string | undefined;
  /** Returns the file that a source may not use, and the reason; `undefined` when there is none. */
  refusesFile(name: string, config: GitConfig): { readonly file: string; readonly reason: string } | undefined;
}

/** Returns all faults of a source that a request wants to create. */
export function apiFaults(body: JsonObject, options: ApiSourceRules): readonly Fault[] {
  const check = checkers.get(asTextOrEmpty(body['type']));
  if (check === undefined) {
    const known = [...checkers.keys()].join(', ');
    const message = `\`type\` must be one of ${known}; directories can be declared only in the configuration of a server`;
    return [{ code: 'value_not_allowed', path: '/type', message }];
  }
  const shape = check(body);
  if (shape.length > 0) return shape;
  // The cast is safe: the body passed the schema.
  const stated = body as unknown as GitConfig & { readonly name: string };
  const own = sourceFaults(stated, options.kinds);
  if (body['type'] !== 'git') return own;
  return [
    ...own,
    ...gitFaults(stated, options.transports),
    ...hostFault(stated, options),
    ...fileFaults(stated, options),
  ];
}

function hostFault({ url }: GitConfig, { refusesHost }: ApiSourceRules): readonly Fault[] {
  const host = parseRemote(url)?.host;
  const reason = host === undefined ? undefined : refusesHost(host);
  return reason === undefined ? [] : [{ code: 'value_not_allowed', path: '/url', message: `\`url\`: ${reason}` }];
}

/**
 * Returns the faults of file names in a request. They must be names in the directory of values, because the API may not
 * choose paths on the server.
 */
function fileFaults(stated: GitConfig & { readonly name: string }, rules: ApiSourceRules): readonly Fault[] {
  const { credentials, webhook, verifySignatures } = stated;
  const { username: _, ...files } = credentials ?? {};
  const named = [
    ...Object.entries(files).map(([name, file]) => [`/credentials/${name}`, file] as const),
    ['/webhook/secretFile', webhook?.secretFile] as const,
    ['/verifySignatures/allowedSignersFile', verifySignatures?.allowedSignersFile] as const,
  ];
  const refused = rules.refusesFile(stated.name, stated);
  return named.flatMap(([path, file]): readonly Fault[] => {
    if (file !== undefined && file === refused?.file)
      return [{ code: 'value_not_allowed', path, message: `\`${path.split('/').at(-1)}\`: ${refused.reason}` }];
    if (file === undefined || isInside(file)) return [];
    const message = `\`${path.split('/').at(-1)}\` must be a name in the directory of values of the servers (--values-dir); write it without a leading slash and without \`..\``;
    return [{ code: 'value_invalid', path, message }];
  });
}

/** Whether a text is a valid ref name by the rules of `git check-ref-format`. */
function isRefName(name: string): boolean {
  const steps = name.split('/');
  if (/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/.test(name) || name === '@') return false;
  return steps.every((step) => step !== '' && !step.startsWith('.') && !step.endsWith('.lock'));
}

function isInside(path: string): boolean {
  return !/^[/\\-]|[\0\\]/.test(path) && path.split('/').every((step) => step !== '..' && step !== '.git');
}
