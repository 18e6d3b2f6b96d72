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

const belowTheEdges = ['engine', 'store', 'model', 'lib'];
const belowTheApi = [
  ...['documents', 'integrations', 'delivery', 'peering', 'identity', 'feeds', 'proxying'],
  ...['engine', 'store', 'access', 'plan', 'kinds', 'model', 'lib'],
];

/** "Who may import whom" of the architecture page, a line a module: a folder of src, or a file of src itself. */
const table: Readonly<Record<string, Row>> = {
  lib: { pure: true, modules: [] },
  model: { pure: true, modules: ['lib'], packages: ['ajv', 'ajv-formats'] },
  'kinds/*': { pure: true, modules: ['kinds/shared', 'model', 'lib'] },
  kinds: { pure: true, modules: ['kinds/*', 'model', 'lib'] },
  plan: { pure: true, modules: ['model', 'lib'], packages: ['fast-json-patch'] },
  access: { pure: true, modules: ['model', 'lib'] },
  store: { modules: ['model', 'lib'], types: ['plan'], packages: ['kysely', 'pg', '@electric-sql/pglite'] },
  engine: { modules: ['store', 'plan', 'access', 'model', 'lib'] },
  outbound: { modules: ['lib'], packages: ['undici'] },
  identity: { modules: ['outbound', ...belowTheEdges], packages: ['jose', 'nodemailer', 'oidc-provider', 'qr'] },
  feeds: { modules: ['access', ...belowTheEdges] },
  proxying: { modules: ['feeds', ...belowTheEdges] },
  peering: { modules: belowTheEdges, packages: ['mmdb-lib'] },
  delivery: { modules: ['outbound', ...belowTheEdges] },
  integrations: { modules: belowTheEdges },
  documents: { modules: ['model', 'lib'], packages: ['yaml'] },
  sources: {
    modules: ['engine', 'documents', 'outbound', 'model', 'lib'],
    packages: ['chokidar', '@kubernetes/client-node'],
  },
  api: { modules: belowTheApi, packages: ['fastify', '@fastify/*', 'prom-client'] },
  config: { modules: ['model', 'lib'] },
  log: { modules: [] },
  version: { modules: [] },
  cli: { modules: ['*'] },
  gen: { modules: ['*'] },
  app: { modules: ['*'] },
  main: { modules: ['*'] },
};

/** The module a file belongs to, `undefined` outside src: `src/kinds/group/kind.ts` is of `kinds/group`, `src/app.ts` of `app`. */
export function moduleOf(path: string): string | undefined {
  const [top, first, second, ...deeper] = path.split('/');
  if (top !== 'src' || first === undefined) return undefined;
  if (second === undefined) return first.replace(/\.ts$/, '');
  return first === 'kinds' && deeper.length > 0 ? `kinds/${second}` : first;
}

/** The row of a module, `undefined` when the table does not know it. */
export function rowOf(module: string): Row | undefined {
  return table[module.startsWith('kinds/') ? 'kinds/*' : module];
}

/** Whether a list of modules or packages of a row names this one, itself or by its `…/*`. */
export function names(list: readonly string[] | undefined, name: string): boolean {
  return list?.some((entry) => entry === '*' || entry === name || entry === name.replace(/\/.*$/, '/*')) ?? false;
}
