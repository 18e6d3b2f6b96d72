import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readServerConfig } from '../../src/cli/server/server-config.ts';
import { serverFileSchema } from '../../src/config/file.ts';
import * as kinds from '../../src/kinds/index.ts';
import type { HeddleError } from '../../src/model/errors.ts';
import { temporaryDirectory } from '../setup/database.ts';

const example = fileURLToPath(new URL('../../examples/server/heddle.yaml', import.meta.url));
const options = { kinds: Object.values(kinds).map(({ name }) => name), transports: ['https', 'ssh'] } as const;

async function read(text: string) {
  const path = join(await temporaryDirectory(), 'heddle.yaml');
  await writeFile(path, text);
  return { path, config: await readServerConfig(path, options) };
}

/** Returns all problems of a file, each with its position, code and message. */
async function problemsOf(text: string): Promise<readonly string[]> {
  const error = await read(text).then(
    () => undefined,
    (reason: HeddleError) => reason,
  );
  return (error?.problems ?? []).map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
}

const git = (more: string) => `sources:\n  - name: net\n    type: git\n    url: https://h/x.git\n    ${more}\n`;

describe('the settings file of a server', () => {
  test('in the examples is valid, also for the editor schema, and resolves file paths against its own directory', async () => {
    const { settings, sources } = await readServerConfig(example, options);
    expect(settings).toMatchObject({ listen: ['127.0.0.1:8080'], poolSize: ['20'], leaseSeconds: ['25s'] });
    expect(sources.map(({ name, type }) => [name, type])).toEqual([
      ['base', 'directory'],
      ['network', 'git'],
      ['team-a', 'git'],
      ['k8s', 'kubernetes'],
    ]);
    expect(sources[0]).toMatchObject({ path: resolve(example, '../../quickstart') });
    expect(sources[1]).toMatchObject({
      credentials: { passwordFile: resolve(example, '../secrets/git-token') },
      webhook: { secretFile: resolve(example, '../secrets/webhook') },
    });
    expect(sources[3]).toMatchObject({ kubeconfigFile: resolve(example, '../kube/config') });
    const check = new Ajv({ strict: true, allErrors: true, strictTypes: false, strictRequired: false }).compile(
      serverFileSchema(),
    );
    expect(check(parse(await readFile(example, 'utf8'))), JSON.stringify(check.errors)).toBe(true);
    expect(check({ sources: [{ name: 'a', type: 'git' }] })).toBe(false);
    expect(check({ sources: [{ name: 'a', type: 'directory', path: 'x', url: 'y' }] })).toBe(false);
  });

  test('may be empty, and may be JSON instead of YAML', async () => {
    expect((await read('# nothing yet\n')).config).toEqual({ settings: {}, sources: [] });
    const { config } = await read('{"log": "json", "openEndpoints": ["/metrics"], "preparedStatements": false}');
    expect(config.settings).toEqual({
      log: ['json'],
      openEndpoints: ['/metrics'],
      preparedStatements: ['false'],
    });
  });

  test('reports all problems at once, each with its line and a fix', async () => {
    expect(
      await problemsOf('lisen: 1.2.3.4:80\npoolSize: "20"\nsources:\n  - { name: a, type: directry, path: x }\n'),
    ).toEqual([
      '1:8 field_unknown unknown field `lisen`; did you mean `listen`?',
      '2:11 type_wrong `poolSize` must be an integer, not a string',
      '4:22 value_not_allowed `type` must be one of directory, git, kubernetes; did you mean `directory`?',
    ]);
    expect(
      await problemsOf(
        'listen: "80"\nsources:\n  - {name: a b, type: directory, path: x, interval: 5}\n  - {name: b, type: directory, url: x}\n',
      ),
    ).toEqual([
      expect.stringMatching(/^1:9 value_invalid `listen` is `80`, which is not an address; write /),
      '3:53 type_wrong `interval` must be a string, not a number',
      '4:5 field_required `path` is required; add it',
      expect.stringMatching(/^4:37 field_unknown unknown field `url`; /),
    ]);
    expect(
      await problemsOf(
        'sources:\n  - {name: a b, type: directory, path: x, interval: 1s}\n  - {name: c, type: directory, path: y}\n  - {name: c, type: directory, path: z, scope: {kinds: [Grup]}}\n',
      ),
    ).toEqual([
      expect.stringMatching(/^2:12 name_invalid `a b` is not a valid source name/),
      '2:53 duration_invalid `interval` is `1s`; write a time from 10s to 24h such as 5m',
      '4:12 name_repeated another source already has the name "c"; give each source a different name',
      '4:57 kind_unknown unknown kind `Grup`; did you mean `Group`?',
    ]);
  });

  test('is parsed as strictly as documents', async () => {
    expect(await problemsOf('log: json\nlog: text\n')).toEqual([expect.stringMatching(/^2:1 key_duplicate /)]);
    expect(await problemsOf('a: &x 1\n')).toEqual([expect.stringMatching(/^1:7 yaml_anchor /)]);
    expect(await problemsOf('log: json\n---\nlog: text\n')).toEqual([expect.stringMatching(/^3:1 settings_invalid /)]);
    expect(await problemsOf('- log\n')).toEqual([expect.stringMatching(/settings_invalid .*is a map/)]);
    await expect(readServerConfig('/nowhere/heddle.yaml', options)).rejects.toThrow('cannot be read');
  });

  test.each([
    ['url: file:///srv/x.git', /uses file, which is not in the server setting HEDDLE_GIT_TRANSPORTS/],
    ['url: ext::sh -c id', /is not the address of a repository/],
    ['url: --upload-pack=id', /is not the address of a repository/],
    ['url: http://h/x.git', /uses http, which is not allowed/],
    ['url: https://u:p@h/x.git', /contains a password/],
    ['url: https://u@h/x.git', /names a user; write the name into `credentials`/],
    ['path: ../x', /must be inside the repository/],
    ['path: /x', /must be inside the repository/],
    ['branch: -x', /`branch` is not a valid branch name/],
    ['branch: a..b', /`branch` is not a valid branch name/],
    ['ref: main', /is not a full ref name/],
    ['{branch: main, ref: refs/tags/x}', /`branch` or `ref`, not both/],
    ['credentials: {sshKeyFile: k}', /a key works only with ssh/],
  ])('refuses a Git source with %s', async (more, message) => {
    const source = more.startsWith('{') ? more.slice(1, -1) : more;
    const text = source.startsWith('url')
      ? `sources:\n  - {name: net, type: git, ${source.replace(/: (.*)/, ': "$1"')}}\n`
      : git(source.replace(', ', '\n    '));
    expect(await problemsOf(text)).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    [
      'a name that cannot be one of a resource',
      'K8s',
      'names: [a]',
      'appears in the names of their resources in the cluster',
    ],
    ['a rule that chooses nothing', 'k8s', 'prune: true', 'write one of the two'],
    ['a conflict mode to choose that there is none of', 'k8s', 'names: [a], conflictModes: [guess]', 'guard'],
    ['an approval that there is none of', 'k8s', 'names: [a], approval: sometimes', 'always'],
  ])('refuses a cluster source with %s', async (_, name, rule, message) => {
    const text = `sources:\n  - name: ${name}\n    type: kubernetes\n    namespaces:\n      - { ${rule} }\n`;
    expect((await problemsOf(text)).join()).toContain(message);
  });

  test('accepts restrictions for the namespaces of a cluster, and `approval: always` for any source', async () => {
    const rule = '{ names: [a], approval: always, conflictModes: [observe], approveInCluster: false }';
    const { config } = await read(`sources:\n  - name: k8s\n    type: kubernetes\n    namespaces:\n      - ${rule}\n`);
    expect(config.sources).toMatchObject([
      { namespaces: [{ approval: 'always', conflictModes: ['observe'], approveInCluster: false }] },
    ]);
    expect((await read(git('approval: always'))).config.sources).toMatchObject([{ approval: 'always' }]);
  });

  test.each(['https://h/x.git', 'ssh://git@h:22/x.git', 'git@h.example:team/x.git'])(
    'accepts a Git repository at %s',
    async (url) => {
      const { config } = await read(`sources:\n  - {name: net, type: git, url: "${url}"}\n`);
      expect(config.sources).toMatchObject([{ url }]);
    },
  );
});
