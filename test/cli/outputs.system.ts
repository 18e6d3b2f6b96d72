import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { type Run, runHeddle, type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

const key = (name: string) => `apiVersion: heddle.dev/v1
kind: SetupKey
metadata:
  name: ${name}
spec: { type: reusable, expires_in: 86400, usage_limit: 0 }
`;
const value = /[0-9A-F]{8}-[0-9A-F-]{27}/;

let server: ServedHeddle;
let directory: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  for (const name of ['served', 'pushed']) {
    await mkdir(join(directory, name));
    await writeFile(join(directory, name, 'keys.yaml'), key(name));
  }
  await copyEmbedded(join(directory, 'data'));
  server = await serveHeddle(['--data-dir', join(directory, 'data'), '--source', join(directory, 'served')]);
});

afterAll(async () => {
  await server.stop();
});

function heddle(...args: readonly string[]): Promise<Run> {
  const env = { HEDDLE_SERVER: server.url, HEDDLE_DATA_DIR: join(directory, 'data') };
  return runHeddle(args, { env, cwd: directory });
}

describe('one-time values', () => {
  it('E123 of a source can be read once, with the command that its log line names', async () => {
    const line = await server.line(/heddle outputs/);
    const [, id = ''] = /`heddle outputs (\w+)`/.exec(line) ?? [];
    const read = await heddle('outputs', id);
    expect([read.code, read.err]).toEqual([0, '']);
    expect(read.out).toMatch(new RegExp(`^SetupKey served  key: ${value.source}\n$`));
    const again = await heddle('outputs', id, '--json');
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out)).toMatchObject({ error: { message: expect.stringContaining('were read already') } });
    expect(server.lines.join('\n')).not.toMatch(value);
  });

  it('of a push are shown by the apply that created them', async () => {
    const { code, out } = await heddle('apply', 'pushed', '--source-name', 'pushed', '--auto-approve');
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(
        `Applied as revision \\d+\\.\n\nGenerated for new objects, and shown only this once:\nSetupKey pushed  key: ${value.source}\n$`,
      ),
    );
    const second = await heddle('apply', 'pushed', '--source-name', 'pushed', '--auto-approve', '--json');
    expect(JSON.parse(second.out).outputs).toBeUndefined();
  });

  it('are part of the one JSON document of apply --json', async () => {
    await writeFile(join(directory, 'pushed', 'more.yaml'), key('more'));
    const { out } = await heddle('apply', 'pushed', '--source-name', 'pushed', '--auto-approve', '--json');
    expect(JSON.parse(out).outputs).toEqual([
      { kind: 'SetupKey', key: 'more', field: 'key', value: expect.stringMatching(value) },
    ]);
  });
});
