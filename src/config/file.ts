import { type Config, type FileValues, settings } from '../config.ts';
import { isObject, type Json, type JsonObject, keysOf } from '../lib/json.ts';
import type { Fault } from '../model/declare/kind.ts';
import type { Transport } from '../model/remote-url.ts';
import { createChecker } from '../model/schema/validation/validate.ts';
import { gitFaults, sourceFaults } from '../model/sources/faults.ts';
import { kubernetesFaults, kubernetesMembers } from '../model/sources/kubernetes.ts';
import { gitMembers, serverRunMembers, sourceNameSchema, sourceSchema } from '../model/sources/schema.ts';
import type { StatedSource } from '../model/sources/stated.ts';

/** Name and type of a setting in the settings file. */
interface FileSetting {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'list';
}

/** The settings that the file may contain. Secrets are excluded; the file may only name the files that contain them. */
const fileSettings: { readonly [K in keyof Config]?: FileSetting } = {
  listen: { name: 'listen', type: 'string' },
  databaseUrl: { name: 'databaseUrl', type: 'string' },
  dataDir: { name: 'dataDir', type: 'string' },
  bootstrapTokenFile: { name: 'bootstrapTokenFile', type: 'string' },
  log: { name: 'log', type: 'string' },
  logLevel: { name: 'logLevel', type: 'string' },
  poolSize: { name: 'poolSize', type: 'integer' },
  waitForDatabaseMs: { name: 'waitForDatabase', type: 'string' },
  preparedStatements: { name: 'preparedStatements', type: 'boolean' },
  openEndpoints: { name: 'openEndpoints', type: 'list' },
  shutdownGraceMs: { name: 'shutdownGrace', type: 'string' },
  edition: { name: 'edition', type: 'string' },
  rateLimit: { name: 'rateLimit', type: 'string' },
  planRateLimit: { name: 'planRateLimit', type: 'string' },
  metricsListen: { name: 'metricsListen', type: 'string' },
  corsOrigins: { name: 'corsOrigins', type: 'list' },
  trustProxy: { name: 'trustProxy', type: 'list' },
  secretKeyFile: { name: 'secretKeyFile', type: 'string' },
  valuesDir: { name: 'valuesDir', type: 'string' },
  shareValues: { name: 'shareValues', type: 'boolean' },
  valueGrants: { name: 'valueGrants', type: 'list' },
  literalSecrets: { name: 'literalSecrets', type: 'boolean' },
  historyRevisions: { name: 'historyRevisions', type: 'integer' },
  historyDays: { name: 'historyDays', type: 'integer' },
  auditDays: { name: 'auditDays', type: 'integer' },
  proxyLogDays: { name: 'proxyLogDays', type: 'integer' },
  trafficLogDays: { name: 'trafficLogDays', type: 'integer' },
  leaseSeconds: { name: 'lease', type: 'string' },
  claimLapseSeconds: { name: 'claimLapse', type: 'string' },
  smtpUrlFile: { name: 'smtpUrlFile', type: 'string' },
  mailFrom: { name: 'mailFrom', type: 'string' },
  userDeleteFromIdp: { name: 'userDeleteFromIdp', type: 'boolean' },
  idp: { name: 'idp', type: 'string' },
  localAuthDisabled: { name: 'localAuthDisabled', type: 'boolean' },
  publicUrl: { name: 'publicUrl', type: 'string' },
  idpRedirectUris: { name: 'idpRedirectUris', type: 'list' },
  idpKeyRotation: { name: 'idpKeyRotation', type: 'integer' },
  oidcIssuer: { name: 'oidcIssuer', type: 'string' },
  oidcAudience: { name: 'oidcAudience', type: 'list' },
  oidcClaims: { name: 'oidcClaims', type: 'list' },
  oidcTrustEmail: { name: 'oidcTrustEmail', type: 'boolean' },
  singleAccount: { name: 'singleAccount', type: 'boolean' },
  outboundAllow: { name: 'outboundAllow', type: 'list' },
  outboundCa: { name: 'outboundCa', type: 'string' },
  outboundGuard: { name: 'outboundGuard', type: 'string' },
  directoryHosts: { name: 'directoryHosts', type: 'list' },
  dnsServers: { name: 'dnsServers', type: 'list' },
};

const fileSettingNames = keysOf(fileSettings);

const common: JsonObject = {
  name: sourceNameSchema,
  account: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    description: 'Id of the account that the source is for; the account of this server when absent.',
  },
};
const pathSchema = { type: 'string', minLength: 1, maxLength: 4096, description: 'The directory, or one file.' };

/** JSON Schemas of a source in the file, by source type. */
const sourceSchemas: Readonly<Record<string, JsonObject>> = {
  directory: sourceSchema({ ...common, type: { const: 'directory' }, ...serverRunMembers, path: pathSchema }, [
    'name',
    'type',
    'path',
  ]),
  git: sourceSchema({ ...common, type: { const: 'git' }, ...gitMembers }, ['name', 'type', 'url']),
  kubernetes: sourceSchema({ ...common, type: { const: 'kubernetes' }, ...kubernetesMembers }, [
    'name',
    'type',
    'namespaces',
  ]),
};
const sourceTypes = Object.keys(sourceSchemas);

function fileSchema(source: JsonObject): JsonObject {
  const properties = fileSettingNames.map((name): readonly [string, JsonObject] => {
    const { name: member, type } = fileSettings[name] ?? { name, type: 'string' };
    const shape = type === 'list' ? { type: 'array', items: { type: 'string' } } : { type };
    return [member, { ...shape, description: settings[name].doc }];
  });
  const sources = {
    type: 'array',
    items: source,
    maxItems: 1000,
    description: 'Sources that the server reads and applies automatically.',
  };
  return {
    type: 'object',
    additionalProperties: false,
    properties: { ...Object.fromEntries(properties), sources },
  };
}

/** Returns the JSON Schema (draft 7) of the settings file, for editors. */
export function serverFileSchema(): JsonObject {
  const isOf = (type: string) => ({ properties: { type: { const: type } }, required: ['type'] });
  const source = {
    type: 'object',
    required: ['name', 'type'],
    properties: {
      name: sourceNameSchema,
      type: { enum: sourceTypes, description: 'Type of the source: where its documents are.' },
    },
    allOf: sourceTypes.map((type) =>
      Object.fromEntries([
        ['if', isOf(type)],
        ['then', sourceSchemas[type] ?? {}],
      ]),
    ),
  };
  return { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Heddle server', ...fileSchema(source) };
}

/** Returns all faults of the settings in a file. Their paths are JSON pointers from the top of the file. */
export function serverFileFaults(
  value: JsonObject,
  options: { readonly kinds: readonly string[]; readonly transports: readonly Transport[] },
): readonly Fault[] {
  const shape = {
    type: 'object',
    required: ['name', 'type'],
    properties: { name: sourceNameSchema, type: { type: 'string', enum: sourceTypes } },
  };
  const faults = createChecker(fileSchema(shape))(value);
  if (faults.length > 0) return faults;
  const sources = sourcesIn(value);
  return [
    ...fileSettingNames.flatMap((name) => settingFault(name, value)),
    ...sources.flatMap((source, at) => prefixPaths(`/sources/${at}`, statedSourceFaults(source, options))),
    ...sources.flatMap((source, at) => duplicateFaults(sources, source, at)),
  ];
}

function settingFault(name: keyof Config, value: JsonObject): readonly Fault[] {
  const member = fileSettings[name]?.name ?? name;
  const texts = textsOf(value[member]);
  if (texts === undefined) return [];
  const parsed = settings[name].parse(texts);
  if (!('fault' in parsed)) return [];
  return [{ code: 'value_invalid', path: `/${member}`, message: `\`${member}\` ${parsed.fault}` }];
}

function statedSourceFaults(
  source: JsonObject,
  { kinds, transports }: { readonly kinds: readonly string[]; readonly transports: readonly Transport[] },
): readonly Fault[] {
  const shape = createChecker(sourceSchemas[String(source['type'])] ?? {})(source);
  if (shape.length > 0) return shape;
  // The cast is safe: the source matches the schema.
  const stated = source as unknown as StatedSource;
  if (stated.type === 'kubernetes') return kubernetesFaults(stated, kinds);
  return [...sourceFaults(stated, kinds), ...(stated.type === 'git' ? gitFaults(stated, transports) : [])];
}

function prefixPaths(pointer: string, faults: readonly Fault[]): readonly Fault[] {
  return faults.map((fault) => ({ ...fault, path: `${pointer}${fault.path}` }));
}

/** Returns a fault when an earlier source has the same account and name: both would be the same source. */
function duplicateFaults(sources: readonly JsonObject[], source: JsonObject, at: number): readonly Fault[] {
  const first = sources.findIndex(({ name, account }) => name === source['name'] && account === source['account']);
  if (first === at) return [];
  const message = `another source already has the name ${JSON.stringify(source['name'])}; give each source a different name`;
  return [{ code: 'name_repeated', path: `/sources/${at}/name`, message }];
}

/** Returns the settings of a checked file, as texts that are parsed like flag values. */
export function settingsIn(value: JsonObject): FileValues {
  const entries = fileSettingNames.flatMap((name): readonly (readonly [string, readonly string[]])[] => {
    const texts = textsOf(value[fileSettings[name]?.name ?? name]);
    return texts === undefined ? [] : [[name, texts]];
  });
  return Object.fromEntries(entries);
}

/** Returns the sources of a checked file. */
export function statedSources(value: JsonObject): readonly StatedSource[] {
  // The cast is safe: `serverFileFaults` has checked each source.
  return sourcesIn(value) as unknown as readonly StatedSource[];
}

function sourcesIn(value: JsonObject): readonly JsonObject[] {
  const { sources = [] } = value;
  return Array.isArray(sources) ? sources.filter(isObject).map((source) => source as JsonObject) : [];
}

function textsOf(value: Json | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.map(String) : [String(value)];
}
