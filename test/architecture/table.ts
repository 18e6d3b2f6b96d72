/** One row of the import table: what the files of a module may import besides their own module. */
export interface Row {
  /** Names of modules; `kinds/*` stands for every kind, `*` for everything. */
  readonly modules: readonly string[];
  /** Modules of which only types may be imported. */
  readonly types?: readonly string[];
  /** Third-party packages at home here; `@scope/*` stands for a scope. */
  readonly packages?: readonly string[];
  /** No clock, randomness, environment, timers, I/O. */
  readonly pure?: true;
}

const core = ['operations', 'objects', 'commit', 'db', 'plan', 'access', 'telemetry', 'model', 'lib'];

/** Who may import whom, a line a module: a folder of src, or a file of src itself. */
const table: Readonly<Record<string, Row>> = {
  lib: { pure: true, modules: [] },
  model: { pure: true, modules: ['lib'], packages: ['ajv', 'ajv-formats'] },
  operations: { pure: true, modules: ['model', 'lib'] },
  'kinds/*': { pure: true, modules: ['kinds/shared', 'model', 'lib'] },
  kinds: { pure: true, modules: ['kinds/*', 'model', 'lib'] },
  plan: { pure: true, modules: ['model', 'lib'], types: ['operations'], packages: ['fast-json-patch'] },
  access: { pure: true, modules: ['model', 'lib'] },
  // On whose behalf code runs, wherever it is: for logs, records and traces.
  telemetry: { modules: ['lib'], packages: ['@opentelemetry/*'] },
  db: {
    modules: ['telemetry', 'model', 'lib', 'executable'],
    types: ['plan', 'operations'],
    packages: ['kysely', 'pg', '@electric-sql/pglite'],
  },
  commit: { modules: ['db', 'plan', 'access', 'telemetry', 'model', 'lib'] },
  objects: { modules: ['commit', 'db', 'plan', 'access', 'model', 'lib'], types: ['operations'] },
  outbound: { modules: ['telemetry', 'lib'], packages: ['nodemailer', 'undici'] },
  kubernetes: { modules: ['lib'], packages: ['@kubernetes/client-node'] },
  // A feature imports another one only where its line says so.
  'features/accounts': { modules: core },
  'features/auth': {
    modules: ['features/accounts', 'outbound', ...core],
    packages: ['jose', 'oidc-provider', 'qr'],
  },
  'features/config': { modules: core },
  'features/integrations': { modules: ['features/config', 'outbound', ...core], packages: ['@aws-sdk/*'] },
  'features/logs': { modules: core },
  'features/peers': { modules: core, packages: ['mmdb-lib'] },
  'features/proxy': { modules: ['features/integrations', 'features/logs', 'features/peers', ...core] },
  'features/sources': {
    modules: ['features/config', 'documents', 'outbound', 'kubernetes', ...core],
    packages: ['chokidar'],
  },
  documents: { modules: ['telemetry', 'model', 'lib', 'executable'], packages: ['yaml'] },
  api: {
    modules: ['features/*', 'documents', 'kinds', ...core],
    packages: ['fastify', '@fastify/*', 'find-my-way', 'prom-client'],
  },
  config: { modules: ['log', 'model', 'lib'] },
  log: { modules: ['lib'] },
  version: { modules: [] },
  executable: { modules: [] },
  cli: { modules: ['*'], packages: ['eventsource-parser'] },
  gen: { modules: ['*'], packages: ['rolldown'] },
  app: { modules: ['*'] },
  main: { modules: ['*'] },
};

/** Folders whose subfolders are modules of their own. */
const divided = ['kinds', 'features'];

/**
 * The module a file belongs to, `undefined` outside src: `src/kinds/group/kind.ts` is of `kinds/group`, `src/app.ts` of
 * `app`.
 */
export function moduleOf(path: string): string | undefined {
  const [top, first, second, ...deeper] = path.split('/');
  if (top !== 'src' || first === undefined) return undefined;
  if (second === undefined) return first.replace(/\.ts$/, '');
  return divided.includes(first) && deeper.length > 0 ? `${first}/${second}` : first;
}

/** The row of a module, `undefined` when the table does not know it. */
export function rowOf(module: string): Row | undefined {
  return table[module.startsWith('kinds/') ? 'kinds/*' : module];
}

/** Whether a list of modules or packages of a row names this one, itself or by its `…/*`. */
export function names(list: readonly string[] | undefined, name: string): boolean {
  return list?.some((entry) => entry === '*' || entry === name || entry === name.replace(/\/.*$/, '/*')) ?? false;
}
