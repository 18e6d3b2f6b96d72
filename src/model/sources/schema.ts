import { longestGlob } from '../../lib/glob.ts';
import type { JsonObject } from '../../lib/json.ts';
import { mostPatterns } from './file-rules.ts';
import {
  type AdoptMode,
  type ApprovalMode,
  adoptModes,
  approvalModes,
  type ConflictMode,
  conflictModes,
  type GuardLimits,
  type MembershipMode,
  membershipModes,
  type Scope,
} from './settings.ts';

/** Settings that sources of every type have. An absent member has its default. */
export interface SourceConfig {
  readonly conflictMode?: ConflictMode;
  readonly adopt?: AdoptMode;
  readonly membership?: MembershipMode;
  readonly prune?: boolean;
  readonly allowEmpty?: boolean;
  readonly strictFiles?: boolean;
  readonly approval?: ApprovalMode;
  /** Patterns of the files that are read, in the syntax of `.gitignore`. Only for a source that a server reads. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly limits?: Partial<GuardLimits>;
  readonly scope?: Scope;
  readonly onSourceDelete?: 'orphan' | 'prune';
  /** Duration between two reconciles, such as `10m`. */
  readonly interval?: string;
}

/**
 * A Git repository as a source. Files are paths, or names in the directory of values when the source was created
 * through the API.
 */
export interface GitConfig extends SourceConfig {
  readonly url: string;
  readonly branch?: string;
  /** Full ref name such as `refs/tags/live`, instead of a branch. */
  readonly ref?: string;
  /** Directory within the repository. */
  readonly path?: string;
  readonly credentials?: GitCredentials;
  readonly pollInterval?: string;
  readonly requireFastForward?: boolean;
  readonly verifySignatures?: { readonly allowedSignersFile: string };
  readonly webhook?: { readonly secretFile: string };
  readonly maxSizeMiB?: number;
}

/** Credentials for the Git server. */
export interface GitCredentials {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly sshKeyFile?: string;
  readonly knownHostsFile?: string;
}

/** Returns the source with `locate` applied to every file that it names. */
export function withFiles<Stated extends GitConfig>(stated: Stated, locate: (file: string) => string): Stated {
  const { credentials, webhook, verifySignatures } = stated;
  const files = (['passwordFile', 'sshKeyFile', 'knownHostsFile'] as const).flatMap((name) => {
    const file = credentials?.[name];
    return file === undefined ? [] : [[name, locate(file)] as const];
  });
  return {
    ...stated,
    ...(credentials === undefined ? {} : { credentials: { ...credentials, ...Object.fromEntries(files) } }),
    ...(webhook === undefined ? {} : { webhook: { secretFile: locate(webhook.secretFile) } }),
    ...(verifySignatures === undefined
      ? {}
      : { verifySignatures: { allowedSignersFile: locate(verifySignatures.allowedSignersFile) } }),
  };
}

/** Limits of the reconcile interval, in seconds. */
export const intervalLimits = { least: 10, most: 24 * 3600 };

const text = (description: string, bounds: JsonObject = { minLength: 1, maxLength: 2000 }): JsonObject => ({
  type: 'string',
  ...bounds,
  description,
});
const words = (values: readonly string[], description: string): JsonObject => ({
  type: 'string',
  enum: values,
  description,
});
const flag = (description: string): JsonObject => ({ type: 'boolean', description });
const share = (description: string): JsonObject => ({ type: 'number', minimum: 0, maximum: 1, description });
const pairs = (description: string): JsonObject => ({ type: 'integer', minimum: 0, description });
const texts = (description: string): JsonObject => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 253 },
  maxItems: 1000,
  description,
});
const members = (description: string, properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  description,
  properties,
  ...(required.length === 0 ? {} : { required }),
});

/** JSON Schema members of the settings that sources of every type have. */
export const settingsMembers: JsonObject = {
  conflictMode: words(
    conflictModes,
    'What happens when the API changes what documents state: it is refused (`guard`, as always), undone by the next reconcile, only reported, or nothing, because values are given at creation only (`seed`).',
  ),
  adopt: words(
    adoptModes,
    'Which objects that no source owns a document of the same name takes over: those that it does not change (as always), any, or none.',
  ),
  membership: words(
    membershipModes,
    'Whether groups keep members that others put there (as always), or hold what documents state and nothing else.',
  ),
  prune: flag('Whether objects that no document states any more are deleted; true unless said otherwise.'),
  allowEmpty: flag('Whether the source may come to state nothing at all; false unless said otherwise.'),
  strictFiles: flag(
    'Whether files that hold no documents of ours are refused; unless said otherwise they are ignored with a note.',
  ),
  approval: words(
    approvalModes,
    'Which plans wait for an approval: those that trip a guard (as always), or every one that changes something.',
  ),
  limits: members('From how much on a plan wants to be approved.', {
    deletes: { type: 'integer', minimum: 0, description: 'So many deletes always pass; 5 unless said otherwise.' },
    deleteShare: share('Share of what the source owns that may be deleted; 0.2 unless said otherwise.'),
    kindShare: share('Share of one kind that may be deleted; 0.5 unless said otherwise.'),
    updateShare: share('Share of what the source owns that may be changed; 0.4 unless said otherwise.'),
    maxAccessLost: pairs('So many pairs may lose some access; any number unless said otherwise.'),
    maxAccessGained: pairs('So many pairs may gain some access; any number unless said otherwise.'),
    lostOwnAccess: text(
      'How the management service is reached inside the mesh, such as Peer/heddle; by default any object that leads to the host of HEDDLE_PUBLIC_URL, at its port. A plan wants to be approved that takes the last way there by TCP from a peer of the caller, or, when a server applies by itself or they have none, of any owner or admin.',
    ),
  }),
  scope: members('What its documents may state and refer to; what is left out allows everything.', {
    kinds: texts('Kinds that they may state.'),
    keyPrefixes: texts('Beginnings of the keys that they may state.'),
    groups: texts('Groups that they may refer to and change beside their own; a `*` at the end stands for any ending.'),
  }),
  onSourceDelete: words(
    ['orphan', 'prune'],
    'What becomes of its objects when the source is deleted: they stay and belong to nobody (as always), or they are deleted too.',
  ),
};

const globs = (description: string): JsonObject => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: longestGlob },
  maxItems: mostPatterns,
  description,
});

/** JSON Schema members of the settings of sources that servers reconcile on their own. */
export const loopMembers: JsonObject = {
  ...settingsMembers,
  include: globs(
    'Only files that match one of these patterns are read, such as `mesh/`; written as in .gitignore, from the directory of the documents. All unless said otherwise.',
  ),
  exclude: globs(
    'Files that match one of these patterns are not read, such as `ci/` or `*.draft.yaml`; written as in .gitignore, from the directory of the documents.',
  ),
  interval: text('How often it is reconciled when nothing happens, such as 10m; 5m unless said otherwise.'),
};

const credentials = members('How to prove to the server of the repository who asks.', {
  username: text('Name that goes with the password; `git` unless said otherwise.'),
  passwordFile: text('File that holds the password or the token, for https.'),
  sshKeyFile: text(
    'File that holds the private key, for ssh; without it a source that the API made has no key at all.',
  ),
  knownHostsFile: text(
    'File that holds the keys of the hosts, for ssh; without it only hosts that the machine knows, and none for a source that the API made without a key.',
  ),
});

const sizeUpTo = (maximum: number): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum,
  description: `How much the files of the repository may take up at the most, up to ${maximum}; 512 unless said otherwise.`,
});

/** Maximum size on disk of a repository whose source was created through the API, in MiB. */
export const mostSizeOverApi = 512;

/** The disk belongs to the operator, so the file of settings may allow more than the API. */
const mostOverApi = { maxSizeMiB: sizeUpTo(mostSizeOverApi) };

/** JSON Schema members of a Git source. */
export const gitMembers: JsonObject = {
  ...loopMembers,
  url: text('Where the repository is: https://… or ssh://… or git@host:path; without credentials in it.'),
  branch: text('The branch to follow; without it, and without `ref`, the one that the repository names as its head.'),
  ref: text('The full name of what to follow in place of a branch, such as refs/tags/live.'),
  path: text('The directory of the documents within the repository; without it, all of it.'),
  credentials,
  pollInterval: text('How often the repository is asked whether there is a new commit; 60s unless said otherwise.'),
  requireFastForward: flag('Whether a commit is refused that does not descend from the one before it.'),
  verifySignatures: members(
    'Commits are refused unless one of these signed them with an SSH key.',
    { allowedSignersFile: text('File of allowed signers, as ssh-keygen reads it.') },
    ['allowedSignersFile'],
  ),
  webhook: members(
    'Lets the host of the repository hint that there is a new commit.',
    { secretFile: text('File that holds the secret which the hints are signed with.') },
    ['secretFile'],
  ),
  maxSizeMiB: sizeUpTo(10_000),
};

/** JSON Schema of a source name, as used in the API, in the log and in the places of documents. */
export const sourceName: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description: 'Its name: letters, digits, dots, dashes and slashes. What a source owns goes by it.',
};

/** Returns the fault of a source name; `undefined` for a valid name. */
export function nameFault(name: string): string | undefined {
  if (/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(name)) return undefined;
  return `\`${name.slice(0, 100)}\` cannot name a source; use letters, digits, dots, dashes and slashes, at most 100`;
}

/** Returns the JSON Schema of a source with these members. */
export function sourceSchema(properties: JsonObject, required: readonly string[]): JsonObject {
  return members('A source of documents.', properties, required);
}

/**
 * JSON Schemas of the sources that the API accepts, by type. Directories are missing, because the API may not choose
 * directories of a server.
 */
export const apiSchemas: Readonly<Record<string, JsonObject>> = {
  git: sourceSchema({ name: sourceName, type: { const: 'git' }, ...gitMembers, ...mostOverApi }, [
    'name',
    'type',
    'url',
  ]),
  push: sourceSchema({ name: sourceName, type: { const: 'push' }, ...settingsMembers }, ['name', 'type']),
};
