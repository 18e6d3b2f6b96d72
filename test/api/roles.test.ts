import { expect, it } from 'vitest';
import { operationsOf } from './described.ts';
import { askers, createRoleTable, type Mark } from './role-table.ts';
import { checkRoles } from './role-walk.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi({ edition: 'hosted' });

it('every endpoint allows the callers that the role matrix allows, and answers 403 to all others', () =>
  checkRoles(api(), (path) => path.startsWith('/api/users')));

it('the role matrix is the one of the file', async () => {
  const table = createRoleTable(api().engine.registry);
  const marks = new Map<string, readonly Mark[]>();
  for (const { name } of operationsOf((await api().call('GET', '/api/openapi.json')).body)) {
    const row = askers.flatMap((asker) => table.expected(name, asker) ?? []);
    if (row.length > 0) marks.set(name, row);
  }
  await expect(render(marks)).toMatchFileSnapshot('./roles.md');
});

function render(marks: ReadonlyMap<string, readonly Mark[]>): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const names = [...marks.keys()].sort((a, b) => (byPath(a) < byPath(b) ? -1 : 1));
  return [
    'Who may call what: `roles.large.ts` asks every endpoint as everybody.\n\n',
    row(['operation', ...askers.map(({ name }) => name)]),
    row(['---', ...askers.map(() => '---')]),
    ...names.map((name) => row([`\`${name}\``, ...(marks.get(name) ?? [])])),
  ].join('');
}

function byPath(name: string): string {
  return name.split(' ').reverse().join(' ');
}
