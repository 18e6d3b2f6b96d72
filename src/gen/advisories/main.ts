import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { judgeAudit, readWaivers } from './verdict.ts';

const defaultWaiversFile = fileURLToPath(new URL('../../../.ci/waivers.json', import.meta.url));
const { values } = parseArgs({ options: { waivers: { type: 'string', default: defaultWaiversFile } } });

// npm exits with a failure both for findings and for an unanswered audit. Its output shows which of the two it is.
const audit = spawnSync('npm', ['audit', '--json', '--fetch-retries=1', '--fetch-timeout=30000'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  timeout: 120_000,
});
try {
  const waivers = readWaivers(readFileSync(values.waivers, 'utf8'));
  const { ok, lines } = judgeAudit(audit.stdout ?? '', waivers, new Date().toISOString().slice(0, 10));
  for (const line of lines) console.log(line);
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  // The message is for the author of the waivers.
  console.error(`error: ${values.waivers}: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
