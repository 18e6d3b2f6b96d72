import type { Rule } from './rules.ts';

type Files = Readonly<Record<string, string>>;

/** For every rule, programs that break this rule and no other. A rule without a sample does not compile. */
export const badSample: Readonly<Record<Rule, readonly Files[]>> = {
  retired_word: [
    { 'src/plan/hands.ts': '' },
    { 'src/plan/note-wishes.ts': '' },
    { 'src/plan/diff.ts': 'export const memberHands = 1;' },
    { 'src/plan/diff.ts': 'export type Newcomer = string;' },
    { 'src/plan/diff.ts': `const text = \`\${names.guests} come\`;` },
  ],
  module_unknown: [{ 'src/utils/strings.ts': '' }, { 'src/server.ts': '' }],
  import_forbidden: [
    { 'src/lib/order.ts': "import { apiVersion } from '../model/document.ts';" },
    { 'src/model/kind.ts': "import type { Plan } from '../plan/plan.ts';" },
    { 'src/kinds/policy/rules.ts': "import { group } from '../group/kind.ts';" },
    { 'src/kinds/shared/address.ts': "export * from '../group/kind.ts';" },
    { 'src/plan/diff.ts': "import { loadSnapshot } from '../db/snapshot.ts';" },
    { 'src/db/commit.ts': "import { commit } from '../commit/commit.ts';" },
    { 'src/features/config/export.ts': "import { writeDocuments } from '../../documents/write.ts';" },
    { 'src/commit/reconcile.ts': "import { app } from '../app.ts';" },
    { 'src/documents/read.ts': "const late = await import('../commit/commit.ts');" },
    { 'src/features/sources/directory.ts': "import { route } from '../../api/server.ts';" },
    { 'src/features/auth/token.ts': "export { enrol } from '../peers/enrol.ts';" },
    { 'src/api/routes/config.ts': "import {\n  watch,\n} from '../../outbound/client.ts';" },
    { 'src/api/routes/group.ts': "import { group } from '../../kinds/group/kind.ts';" },
    { 'src/api/server.ts': "import { config } from '../config.ts';" },
    { 'src/main.ts': "import '../test/setup/database.ts';" }, // `*` is what src has, not what lies beside it
  ],
  import_of_value: [
    { 'src/db/commit.ts': "import { buildPlan } from '../plan/plan.ts';" },
    { 'src/db/commit.ts': "import { type Plan, buildPlan } from '../plan/plan.ts';" },
    { 'src/db/commit.ts': "import '../plan/plan.ts';" },
  ],
  package_away_from_home: [
    { 'src/commit/commit.ts': "import { sql } from 'kysely';" },
    { 'src/lib/order.ts': "import { compare } from 'fast-json-patch';" },
    { 'src/gen/crds.ts': "import { stringify } from 'yaml';" },
    { 'src/cli/serve.ts': "import type { FastifyInstance } from 'fastify';" },
    { 'src/kinds/group/kind.ts': 'import Ajv from "ajv/dist/2020.js";' },
    { 'src/app.ts': "const { PGlite } = await import('@electric-sql/pglite');" },
    { 'src/db/metrics.ts': "import { Counter } from 'prom-client';" },
  ],
  node_in_pure: [
    { 'src/lib/ids.ts': "import { createHash } from 'node:crypto';" },
    { 'src/plan/diff.ts': "import { isDeepStrictEqual } from 'node:util';" },
    { 'src/kinds/index.ts': "import { readdirSync } from 'node:fs';" },
  ],
  impure: [
    { 'src/plan/plan.ts': 'const now = Date.now();' },
    { 'src/model/actor.ts': 'const now = new Date();' },
    { 'src/lib/ids.ts': 'const digit = Math.random() * 10;' },
    { 'src/lib/ids.ts': 'const id = crypto.randomUUID();' },
    { 'src/access/reach.ts': 'setTimeout(slice, 0);' },
    { 'src/kinds/group/rules.ts': 'process.exit(1);' },
    { 'src/kinds/index.ts': 'console.log(registry);' },
    { 'src/model/validate.ts': "await fetch('https://example.com');" },
  ],
  environment: [
    { 'src/db/database.ts': "const url = process.env['HEDDLE_DATABASE_URL'];" },
    { 'src/app.ts': "const { HOME } = process['env'];" },
    { 'src/cli/token.ts': "import { env } from 'node:process';" },
    { 'src/features/sources/directory.ts': "const files = '**/*.yaml';\nconst home = process.env['HOME']; /* why */" },
  ],
  kind_by_name: [
    { 'src/plan/diff.ts': "if (kind.name === 'Group') skip();" },
    { 'src/commit/objects.ts': "const own = object.kind!=='Peer';" },
    { 'src/db/commit.ts': "const peers = rows.filter((row) => 'Peer' === row.kind);" },
    { 'src/api/resources.ts': "switch (kind.name) {\n  case 'Group':\n    break;\n}" },
  ],
  file_too_long: [{ 'src/commit/commit.ts': 'export {};\n'.repeat(401) }],
  module_cycle: [
    {
      'src/cli/serve.ts': "import { buildApp } from '../app.ts';",
      'src/app.ts': "import { print } from './gen/main.ts';",
      'src/gen/main.ts': "import type { Output } from '../cli/output.ts';",
    },
  ],
};

/** A program that comes close to every rule and breaks none. */
export const goodSample: Files = {
  'src/lib/node-pure.ts':
    "import { domainToASCII } from 'node:url';\nconst crypto = process.getBuiltinModule('node:crypto');",
  'src/lib/names.ts': "/** Hands it over. */\nconst text = 'a guest'; const desired = `by all means`;",
  'src/lib/ids.ts': "// Never Date.now() here.\nconst day = new Date(0); const url = 'https://example.com';",
  'src/model/kind.ts': "import Ajv from 'ajv/dist/2020.js';\nimport { isObject } from '../lib/json.ts';",
  'src/kinds/index.ts': "export { group } from './group/kind.ts';",
  'src/kinds/group/kind.ts': "import { tagged } from '../shared/tags.ts';\nimport { rules } from './rules.ts';",
  'src/kinds/group/rules.ts': "if (reference.kind === 'Peer') keep();",
  'src/kinds/shared/tags.ts': "import { defineKind } from '../../model/kind.ts';",
  'src/plan/plan.ts': "import { compare } from 'fast-json-patch';\n/* process.env */ if (kind.name === name) keep();",
  'src/db/commit.ts':
    "import type { Plan } from '../plan/plan.ts';\nimport { type Guard, type Change } from '../plan/plan.ts';",
  'src/db/database.ts': "import { readFileSync } from 'node:fs';\nimport { PGlite } from '@electric-sql/pglite/live';",
  'src/commit/commit.ts':
    "import { buildPlan } from '../plan/plan.ts';\nconst now = Date.now();\nif (change.kind === 'create') keep();",
  'src/features/sources/directory.ts':
    "import { watch } from 'chokidar';\nimport type { Propose } from '../../commit/batch.ts';",
  'src/api/server.ts':
    "import fastify from 'fastify';\nimport cors from '@fastify/cors';\nexport const from = 'sources';",
  'src/config.ts': "const home = process.env['HOME'];",
  'src/app.ts': "import { config } from './config.ts';\nimport { listen } from './api/server.ts';",
  'src/cli/serve.ts': "import { buildApp } from '../app.ts';",
};
