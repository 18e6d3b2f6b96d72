import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { fullScale, type ObjectFigures, type PeerFigures, type Sizing } from '../bench/sizing/figures.ts';
import { sizingPage, sizingTables } from '../bench/sizing/tables.ts';
import { root } from './pages.ts';

const page = readFileSync(join(root, 'docs/sizing.md'), 'utf8');
const figures = /<!-- figures: [^\n]*-->\n(.*)<!-- \/figures -->/s.exec(page)?.[1] ?? '';

const memory = { starting: 240, empty: 100, peak: 400, loaded: 150 };

function objectsOf(objects: number): ObjectFigures {
  const applied = 11 + objects / 100;
  const disk = {
    ...{ empty: { data: 11 }, applied: { data: applied } },
    ...{ planned: { data: applied + 3 }, changed: { data: applied + 4 } },
  };
  const times = { applyMs: objects, planMs: 20, writeMs: 3, listMs: 4, pageMs: 1, startMs: 900 };
  return { objects, ...times, writes: 1000, reads: 5000, unchanged: 6000, memory, disk, plans: 3, changes: 500 };
}

function peersOf(peers: number): PeerFigures {
  const disk = { empty: { data: 27, log: 16 }, enrolled: { data: 27 + peers / 100, log: 16 } };
  const loaded = { ...memory, loaded: 150 + peers / 10 };
  const connected = { connected: 50, maps: 300, connectedMemory: 5, changeMs: 20 };
  const rates = { enrolments: 400, enrolmentCpu: 2, writes: 900, listMs: 7, startMs: 1000 };
  return { peers, memory: loaded, disk, ...connected, ...rates };
}

const sum = { perSecond: 1000, longest: 20, serverCpu: 0.3, postgresCpu: 0.1 };

const sample: Sizing = {
  machine: {
    ...{ cores: 2, processor: 'A', memory: 25, node: '24.0.0', postgres: '15.18', embedded: '18.6', heddle: '0.2.0' },
    ...{ day: '2026-11-23', load: [1, 2], minutes: 3 },
  },
  objects: { Postgres: fullScale.objects.map(objectsOf), embedded: fullScale.objects.map(objectsOf) },
  peers: { Postgres: fullScale.peers.map(peersOf), embedded: fullScale.peers.map(peersOf) },
  replicas: [1, 2, 3].map((servers) => ({ servers, reads: sum, sameAccount: sum, otherAccounts: sum })),
  lag: { reads: 40, stale: 0, sameMs: 4, otherMs: 6, sameEventMs: 16, otherEventMs: 20 },
  growth: { kept: { changes: 1, audit_events: 0.5 }, folded: { changes: 0.25, audit_events: 0.5 }, million: 1800 },
};

/** Returns the headings and the lines of tables; of rows with measurements, only the first two cells. */
function shapeOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('### ')) return [line];
    const cells = line.startsWith('|') ? line.split('|').map((cell) => cell.trim()) : [];
    return cells.length === 0
      ? []
      : [/^(?:Postgres|embedded)$/.test(cells[1] ?? '') ? `${cells[1]} ${cells[2]}` : line];
  });
}

test('the tables of docs/sizing.md match those of the benchmark at full size', () => {
  const written = shapeOf(sizingTables(sample));
  const byDatabase = written.filter((line) => /^(?:###|Postgres|embedded)/.test(line));
  expect(shapeOf(figures).filter((line) => /^(?:###|Postgres|embedded)/.test(line))).toEqual(byDatabase);
  expect(byDatabase).toContain('Postgres 10,000');
  expect(byDatabase).toContain('embedded 20,000');
});

test('a benchmark run replaces only the figures of docs/sizing.md', () => {
  const rewritten = sizingPage(page, sample);
  expect(rewritten).toContain(sizingTables(sample));
  expect(sizingPage(rewritten, sample)).toBe(rewritten);
  expect(rewritten.replace(sizingTables(sample), figures.trim())).toBe(page.replace(figures, `\n${figures.trim()}\n`));
});

test('sizing figures include their ratio to the smallest size', () => {
  const text = sizingTables(sample);
  expect(text).toContain(
    'From the smallest to the largest size, 1,000 peers take 100 MB on Postgres, 100 MB on embedded.',
  );
  expect(text).toContain('| Postgres | 20,000 | 400 MB | 2,150 MB (× 8.6) | 50 | 5 MB | 100 kB |');
  expect(text).toContain('| Postgres | 10,000 | 11 MB | 111 MB | 1 MB | 2 MB | shared |');
  expect(text).toContain('| total |  | 1.5 MB | 0.75 MB |');
});

/**
 * Returns the table "Memory by objects" of a database. Columns: objects, start, empty, apply and load, started again.
 */
function memoryByObjects(database: string): readonly (readonly number[])[] {
  const table = /### Memory by objects\n(.*?)\n### /s.exec(figures)?.[1] ?? '';
  const rows = table.split('\n').filter((line) => line.startsWith(`| ${database} |`));
  return rows.map((row) => row.split(' | ').slice(1).map(toNumber));
}

function toNumber(cell: string): number {
  return Number(/^([\d,]+)/.exec(cell)?.[1]?.replace(',', ''));
}

const { resources } = parse(readFileSync(join(root, 'charts/heddle/values.yaml'), 'utf8'));
const megabytes = (amount: string) => (Number(/^(\d+)Mi$/.exec(amount)?.[1]) * 2 ** 20) / 10 ** 6;

test('docs/sizing.md states for how many objects the memory request of the Helm chart is sufficient', () => {
  const [, request = '', ...most] =
    /its request, ([\d,]+) MiB, for\s+([\d,]+) objects on Postgres and ([\d,]+) objects with the embedded/.exec(page) ??
    [];
  expect(`${request}Mi`).toBe(resources.requests.memory);
  for (const [at, database] of ['Postgres', 'embedded'].entries()) {
    const sufficient = memoryByObjects(database).filter((row) => (row[4] ?? Number.NaN) < megabytes(`${request}Mi`));
    expect(Math.max(...sufficient.map(([objects = 0]) => objects)), database).toBe(toNumber(most[at] ?? ''));
  }
});

test('the memory limit of the Helm chart exceeds what docs/sizing.md measured for the embedded database', () => {
  const taken = memoryByObjects('embedded');
  expect(taken.map(([objects]) => objects)).toEqual([100, 1_000, 10_000]);
  const most = (column: number) => Math.max(...taken.map((row) => row[column] ?? Number.NaN));
  expect(megabytes(resources.limits.memory)).toBeGreaterThan(1.5 * most(1));
  expect(megabytes(resources.limits.memory)).toBeGreaterThan(1.2 * most(3));
  // The request only has to suffice for 1,000 objects, the size of most accounts, because a request is not a limit.
  expect(megabytes(resources.requests.memory)).toBeGreaterThan(taken[1]?.[4] ?? Number.NaN);
});
