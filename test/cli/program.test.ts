import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';
import { allCommands } from '../../src/cli/commands.ts';
import { plan } from '../../src/cli/plan/plan.ts';
import { runHere } from './collect.ts';

const commands = await allCommands(async () => {
  throw new Error('this test starts no server');
});

describe('the help', () => {
  test('lists every command', async () => {
    const { code, out } = await runHere(['--help']);
    expect(code).toBe(0);
    const lines = out.replace(/\n {10,}/g, ' ');
    for (const { name, summary } of commands)
      expect(lines).toMatch(new RegExp(`^  ${name} +${summary.replace(/[.?*+()]/g, '\\$&')}$`, 'm'));
  });

  test.each(commands.map((command) => [command.name, command] as const))(
    'of %s shows usage, flags and examples',
    async (name, command) => {
      const { code, out, note } = await runHere([...name.split(' '), '--help']);
      expect([code, note]).toEqual([0, '']);
      expect(out).toContain(`Usage: heddle ${name}`);
      for (const flag of Object.keys(command.flags)) expect(out).toContain(`--${flag}`);
      for (const [line] of command.examples) expect(out).toContain(line);
      expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(101);
    },
  );

  test('is also shown by -h, by `heddle help`, and for a group of commands', async () => {
    const { out } = await runHere(['plan', '-h']);
    expect((await runHere(['help', 'plan'])).out).toBe(out);
    expect((await runHere(['token', '--help'])).out).toContain('Usage: heddle token new');
  });

  test('shows variables and defaults', async () => {
    const { out } = await runHere(['serve', '--help']);
    expect(out).toContain('--listen HOST:PORT');
    expect(out).toContain('(default 127.0.0.1:8080). [HEDDLE_LISTEN]');
    expect(out).toContain('HEDDLE_BOOTSTRAP_TOKEN_FILE');
  });
});

describe('a wrong command line', () => {
  test.each([
    ['shows the help without a command', [], 'Usage: heddle <command> [flags]'],
    ['guesses the command', ['pln'], 'unknown command `pln`; did you mean plan?'],
    ['names the subcommands', ['token'], '`heddle token` needs one more word: heddle token new'],
    [
      'wants flags behind the command',
      ['--source', 'x', 'serve'],
      'unknown flag --source; flags come after the command',
    ],
    ['guesses the flag', ['plan', 'x', '--sorce-name', 'y'], 'unknown flag --sorce-name; did you mean --source-name?'],
    ['refuses an inherited name as a flag', ['plan', 'x', '--constructor'], 'unknown flag --constructor'],
    ['refuses the value of a switch', ['plan', 'x', '--no-prune=1'], '--no-prune takes no value'],
    ['misses a value', ['plan', 'x', '--source-name'], '--source-name needs a value: --source-name NAME'],
    [
      'does not take a flag for a value',
      ['plan', 'x', '--server', '--no-prune'],
      '--server needs a value: --server URL',
    ],
    [
      'refuses a flag given twice',
      ['plan', 'x', '--server', 'http://a', '--server', 'http://b'],
      '--server is given twice; keep one',
    ],
    ['misses an argument', ['validate'], 'PATH… is missing: files or directories'],
    ['refuses an argument too many', ['status', 'x'], '`x` is one word too many: the command takes no arguments'],
    [
      'tells a wrong setting',
      ['status', '--server', 'x'],
      '--server is not the address of a server; write one such as http://127.0.0.1:8080.',
    ],
  ])('exits with 1 and %s', async (_, argv, message) => {
    const { code, out, note } = await runHere(argv);
    expect([code, out]).toEqual([1, '']);
    expect(note).toContain(message);
  });

  test('prints the usage of the command', async () => {
    expect((await runHere(['plan', '--x'])).note).toContain(
      'Usage: heddle plan PATH… [flags]\n`heddle plan --help` explains it.\n',
    );
  });
});

describe('an error with --json', () => {
  test.each([
    ['an unknown command', ['pln', '--json']],
    ['a wrong flag', ['plan', 'x', '--json', '--x']],
    ['a wrong setting', ['status', '--json', '--server', 'x']],
    ['a missing path', ['validate', '/does/not/exist', '--json']],
    ['nobody to ask', ['apply', 'x', '--json']],
    ['a missing token', ['status', '--json', '--data-dir', '/does/not/exist']],
    ['a server that is not there', ['status', '--json', '--token', 't', '--server', 'http://127.0.0.1:9']],
  ])('for %s is exactly one JSON document (E147)', async (_, argv) => {
    const { code, out } = await runHere(argv);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      formatVersion: '1.0',
      error: { message: expect.any(String), exitCode: 1, problems: [] },
    });
  });
});

describe('apply', () => {
  test('without a terminal and without --auto-approve does not prompt and exits with 1 (E150)', async () => {
    const confirm = async () => Promise.reject(new Error('asked'));
    const { code, out, note } = await runHere(['apply', 'x'], {}, { confirm });
    expect([code, out]).toEqual([1, '']);
    expect(note).toContain('add --auto-approve to apply without asking');
  });

  test('does not prompt on the standard input that the documents are read from', async () => {
    expect((await runHere(['apply', '-'], {}, { interactive: true })).code).toBe(1);
  });
});

test('an unreachable server is reported in one sentence that names --server', async () => {
  const { note } = await runHere(['export', '--token', 't', '--server', 'http://127.0.0.1:9']);
  expect(note).toMatch(
    /^error: No server answers at http:\/\/127\.0\.0\.1:9 \(.+\); start one with `heddle serve`, or name yours with --server\.\n$/,
  );
});

test('a missing token is reported with the ways to provide one', async () => {
  const { note } = await runHere(['export', '--data-dir', '/does/not/exist']);
  expect(note).toContain('/does/not/exist/token does not exist, and you are not signed in. Run `heddle login --server');
});

test('flags and arguments may come in any order, and -- ends the flags', () => {
  expect(parseArguments(plan, ['a', '--json', '--source-name=x', 'b', '--', '--c'])).toMatchObject({
    ok: true,
    flags: { json: true, 'source-name': 'x' },
    positionals: ['a', 'b', '--c'],
  });
});
