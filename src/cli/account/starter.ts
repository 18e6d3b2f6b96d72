import { relative } from 'node:path';
import { ignoreFile } from '../../model/sources/file-rules.ts';
import { schemaOfDocuments } from './schema.ts';

/** A file that `heddle init` writes: its path relative to a directory, and its text. */
export type StarterFile = readonly [path: string, text: string];

/**
 * Path of the schema, relative to the directory of documents. It is in a dot directory because those are never read as
 * documents.
 */
export const schemaPath = '.heddle/schema.json';

/**
 * Returns the files that `heddle init` adds to a directory of documents: settings, README, ignore files and schema.
 * `word` is the directory, quoted for a shell.
 */
export function surroundingFiles(source: string, word: string): readonly StarterFile[] {
  return [
    [
      'heddle.yaml',
      `# Settings of this directory. The source owns what the documents state: never rename it.\nsource: ${JSON.stringify(source)}\n`,
    ],
    ['README.md', readmeOf(source, word)],
    [ignoreFile, '# Files and directories that are no documents, one pattern a line as in .gitignore.\n'],
    ['.gitignore', gitignore],
    [schemaPath, schemaOfDocuments()],
  ];
}

/**
 * Returns the settings file by which editors check all documents in a directory. Editors read it at the top of the
 * folder that they open.
 */
export function editorSettings(top: string, directory: string): StarterFile {
  const below = relative(top, directory).replaceAll('\\', '/');
  const inDirectory = (pattern: string) => (below === '' ? pattern : `${below}/${pattern}`);
  const files = below === '' ? ['*.yaml', '*.yml'] : ['**/*.yaml', '**/*.yml'].map(inDirectory);
  const settings = { 'yaml.schemas': { [inDirectory(schemaPath)]: [...files, `!${inDirectory('heddle.yaml')}`] } };
  return ['.vscode/settings.json', `${JSON.stringify(settings, null, 2)}\n`];
}

/** Ignores the default data directory of a server, and the files that pipelines write. */
const gitignore = `# What \`heddle serve\` keeps here; the schema is for editors.
.heddle/*
!/${schemaPath}
# Plans, which pipelines write.
plan.json
plan.md
`;

function readmeOf(source: string, word: string): string {
  return `# ${source}

Documents of the source \`${source}\`: what they state is brought into a mesh account by Heddle, and what they stop stating is
removed from it. \`heddle.yaml\` names the source, \`.heddleignore\` the files that are no documents.

    heddle validate ${word}     checks the documents, without a server
    heddle fmt ${word}          writes them in canonical form
    heddle plan ${word}         shows what they would change in the account
    heddle apply ${word}        changes it

\`heddle explain Policy.rules\` documents a field. After an upgrade of Heddle, \`heddle schema > ${schemaPath}\` (in this
directory) brings the schema up to date by which editors check the documents.
`;
}

/** Example documents for a new directory. They declare nothing that a new account already has. */
export const firstDocuments: readonly StarterFile[] = [
  [
    'groups.yaml',
    `# A group is a set of machines (peers). \`heddle explain Group\` says what it can have.
apiVersion: heddle.dev/v1
kind: Group
metadata:
  name: engineering # the key: other documents refer to the group by it, and it never changes
spec:
  name: Engineering # what people see
---
apiVersion: heddle.dev/v1
kind: Group
metadata:
  name: servers
spec:
  name: Servers
`,
  ],
  [
    'policies.yaml',
    `# Who may reach whom. A new account has a policy called Default too, which lets everybody reach everybody: delete it once
# the policies here say what you want.
apiVersion: heddle.dev/v1
kind: Policy
metadata:
  name: engineering-to-servers
spec:
  name: Engineering runs the servers
  rules:
    - name: shell
      action: accept
      protocol: tcp
      ports: ["22"]
      sources: [engineering]
      destinations: [servers]
`,
  ],
];
