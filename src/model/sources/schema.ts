import { maxGlobLength } from '../../lib/glob.ts';
import type { JsonObject } from '../../lib/json.ts';
import { maxPatterns } from './file-rules.ts';
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
export function mapFiles<Stated extends GitConfig>(stated: Stated, locate: (file: string) => string): Stated {
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

const textSchema = (description: string, bounds: JsonObject = { minLength: 1, maxLength: 2000 }): JsonObject => ({
  type: 'string',
  ...bounds,
  description,
});
const enumSchema = (values: readonly string[], description: string): JsonObject => ({
  type: 'string',
  enum: values,
  description,
});
const booleanSchema = (description: string): JsonObject => ({ type: 'boolean', description });
const shareSchema = (description: string): JsonObject => ({ type: 'number', minimum: 0, maximum: 1, description });
const pairCountSchema = (description: string): JsonObject => ({ type: 'integer', minimum: 0, description });
const textListSchema = (description: string): JsonObject => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 253 },
  maxItems: 1000,
  description,
});
const objectSchema = (description: string, properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  description,
  properties,
  ...(required.length === 0 ? {} : { required }),
});

/** JSON Schema members of the settings that sources of every type have. */
export const settingsMembers: JsonObject = {
  conflictMode: enumSchema(
    conflictModes,
    'Handling of API changes to values that documents state: `guard` refuses them (default), `correct` undoes them at the next reconcile, `observe` only reports them, and `seed` allows them, because documents then give values only at creation.',
  ),
  adopt: enumSchema(
    adoptModes,
    'Which objects without an owner a document of the same name adopts: `identical` those that it does not change (default), `take` any, `never` none.',
  ),
  membership: enumSchema(
    membershipModes,
    'Whether groups keep members that others added (`additive`, default), or contain only the members that documents state (`exclusive`).',
  ),
  prune: booleanSchema('Whether objects that no document states any more are deleted. Default: true.'),
  allowEmpty: booleanSchema('Whether the source may become empty, so that it states nothing any more. Default: false.'),
  strictFiles: booleanSchema(
    'Whether files without Heddle documents are refused. Default: false, which ignores them with a note.',
  ),
  approval: enumSchema(
    approvalModes,
    'Which plans wait for an approval: those that trip a guard (`guards`, default), or all plans with changes (`always`).',
  ),
  limits: objectSchema('Limits above which a plan needs an approval.', {
    deletes: {
      type: 'integer',
      minimum: 0,
      description: 'Number of deletes up to which `deleteShare` is not checked. Default: 5.',
    },
    deleteShare: shareSchema('Share of the objects owned by the source that may be deleted. Default: 0.2.'),
    kindShare: shareSchema('Share of the owned objects of one kind that may be deleted. Default: 0.5.'),
    updateShare: shareSchema('Share of the objects owned by the source that may be changed. Default: 0.4.'),
    maxAccessLost: pairCountSchema('Maximum number of pairs that may lose some access. Default: no limit.'),
    maxAccessGained: pairCountSchema('Maximum number of pairs that may gain some access. Default: no limit.'),
    lostOwnAccess: textSchema(
      'Object through which the management service is reached inside the mesh, such as Peer/heddle. Default: any object through which the host of HEDDLE_PUBLIC_URL is reached, at its port. A plan needs an approval when it removes the last TCP access to the service from a peer of the caller or, when a server applies by itself or the caller has no peers, from a peer of any owner or admin.',
    ),
  }),
  scope: objectSchema('What the documents of the source may state and refer to. Absent members allow everything.', {
    kinds: textListSchema('Kinds that the documents may state.'),
    keyPrefixes: textListSchema('Prefixes of the keys that the documents may state.'),
    groups: textListSchema(
      'Groups that the documents may refer to and change in addition to those of the source. A `*` at the end matches any ending.',
    ),
  }),
  onSourceDelete: enumSchema(
    ['orphan', 'prune'],
    'Handling of the objects when the source is deleted: they stay without an owner (`orphan`, default), or are deleted too (`prune`).',
  ),
};

const patternListSchema = (description: string): JsonObject => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: maxGlobLength },
  maxItems: maxPatterns,
  description,
});

/** JSON Schema members of the settings of sources that servers reconcile on their own. */
export const serverRunMembers: JsonObject = {
  ...settingsMembers,
  include: patternListSchema(
    'Patterns of the files to read, such as `mesh/`; in .gitignore syntax, relative to the directory of the documents. Default: all files.',
  ),
  exclude: patternListSchema(
    'Patterns of files not to read, such as `ci/` or `*.draft.yaml`; in .gitignore syntax, relative to the directory of the documents.',
  ),
  interval: textSchema('Interval between reconciles when nothing happens, such as 10m. Default: 5m.'),
};

const credentials = objectSchema('Credentials for the server of the repository.', {
  username: textSchema('User name for the password. Default: `git`.'),
  passwordFile: textSchema('File that holds the password or the token, for https.'),
  sshKeyFile: textSchema(
    'File with the private key, for ssh. Without it, a source that was created through the API uses no key.',
  ),
  knownHostsFile: textSchema(
    'File with the host keys, for ssh. Without it, only hosts that the machine knows are accepted, and no host for a source without a key that was created through the API.',
  ),
});

const sizeUpTo = (maximum: number): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum,
  description: `Maximum disk space for the files of the repository in MiB, up to ${maximum}. Default: 512.`,
});

/** Maximum size on disk of a repository whose source was created through the API, in MiB. */
export const maxApiSizeMiB = 512;

/** The disk belongs to the operator, so the file of settings may allow more than the API. */
const apiSizeMember = { maxSizeMiB: sizeUpTo(maxApiSizeMiB) };

/** JSON Schema members of a Git source. */
export const gitMembers: JsonObject = {
  ...serverRunMembers,
  url: textSchema('URL of the repository: https://…, ssh://… or git@host:path, without a password or token.'),
  branch: textSchema('Branch to follow. Default, without `ref`: the branch of the HEAD of the repository.'),
  ref: textSchema('Full ref name to follow instead of a branch, such as refs/tags/live.'),
  path: textSchema('Directory of the documents within the repository. Default: the whole repository.'),
  credentials,
  pollInterval: textSchema('Interval between checks for a new commit. Default: 60s.'),
  requireFastForward: booleanSchema('Whether a commit is refused unless it descends from the commit before it.'),
  verifySignatures: objectSchema(
    'Check of signatures: a commit is refused unless an allowed signer signed it with an SSH key.',
    { allowedSignersFile: textSchema('File of allowed signers, in the format of ssh-keygen.') },
    ['allowedSignersFile'],
  ),
  webhook: objectSchema(
    'Webhook by which the host of the repository announces new commits.',
    { secretFile: textSchema('File with the secret that signs the webhook requests.') },
    ['secretFile'],
  ),
  maxSizeMiB: sizeUpTo(10_000),
};

/** JSON Schema of a source name, as used in the API, in the log and in the positions of documents. */
export const sourceNameSchema: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description:
    'Name of the source: letters, digits, dots, dashes and slashes. Ownership of objects refers to this name.',
};

/** Returns the fault of a source name; `undefined` for a valid name. */
export function sourceNameFault(name: string): string | undefined {
  if (/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(name)) return undefined;
  return `\`${name.slice(0, 100)}\` is not a valid source name; use letters, digits, dots, dashes and slashes, at most 100 characters`;
}

/** Returns the JSON Schema of a source with these members. */
export function sourceSchema(properties: JsonObject, required: readonly string[]): JsonObject {
  return objectSchema('A source of documents.', properties, required);
}

/**
 * JSON Schemas of the sources that the API accepts, by type. Directories are missing, because the API may not choose
 * directories of a server.
 */
export const apiSourceSchemas: Readonly<Record<string, JsonObject>> = {
  git: sourceSchema({ name: sourceNameSchema, type: { const: 'git' }, ...gitMembers, ...apiSizeMember }, [
    'name',
    'type',
    'url',
  ]),
  push: sourceSchema({ name: sourceNameSchema, type: { const: 'push' }, ...settingsMembers }, ['name', 'type']),
};
