import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exit } from '../../src/cli/exit.ts';
import { settings } from '../../src/config.ts';
import { callFault } from '../setup/command-lines.ts';

const unit = readFileSync('examples/server/heddle.service', 'utf8');
const values = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

test('the systemd unit calls a command that exists and sets variables that exist', () => {
  const [words = []] = values('ExecStart').map((line) => line.split(' ').slice(1));
  expect(callFault(words)).toBeUndefined();
  const known = Object.values(settings).map(({ variable }) => variable);
  expect(values('Environment').filter((pair) => !known.includes(pair.replace(/=.*/, '')))).toEqual([]);
  expect(values('RestartPreventExitStatus')).toEqual([String(exit.schemaTooNew)]);
});

test('the systemd unit gives the program no capabilities and one writable directory', () => {
  expect(['CapabilityBoundingSet', 'ProtectSystem', 'DynamicUser', 'StateDirectory'].flatMap(values)).toEqual([
    ...['', 'strict', 'yes', 'heddle'],
  ]);
});

test('systemd-analyze, where it is installed, finds no fault in the unit and a low exposure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-unit-'));
  const path = join(folder, 'heddle.service');
  // The program of the unit is not installed here.
  writeFileSync(path, unit.replaceAll('/usr/local/bin/heddle', process.execPath));
  const analyze = (...words: readonly string[]) => spawnSync('systemd-analyze', [...words, path], { encoding: 'utf8' });
  const faults = analyze('verify');
  const exposure = analyze('security', '--offline=true', '--threshold=20', '--no-pager');
  rmSync(folder, { recursive: true });
  const isThere = faults.error === undefined;
  expect([faults.stderr ?? '', faults.status, exposure.status]).toEqual(isThere ? ['', 0, 0] : ['', null, null]);
});
