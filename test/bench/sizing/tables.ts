import { replaceBlock, table } from '../../../src/gen/markdown.ts';
import type {
  GrowthFigures,
  LagFigures,
  Machine,
  ObjectFigures,
  PeerFigures,
  ReplicaFigures,
  Sizing,
  Sum,
} from './figures.ts';
import type { DatabaseName } from './storage.ts';

/** Returns the sizing page with the figures of a run. The rest of the page is written by hand. */
export function sizingPage(page: string, sizing: Sizing): string {
  return replaceBlock(page, 'figures', sizingTables(sizing));
}

/** Returns all figures as Markdown, with a heading and a table for each question. */
export function sizingTables({ machine, objects, peers, replicas, lag, growth }: Sizing): string {
  const parts = [
    machineText(machine),
    '### Memory by objects',
    objectMemory(objects),
    '### Disk by objects',
    objectDisk(objects),
    '### Throughput by objects',
    objectTime(objects),
    '### Memory by peers',
    peerMemory(peers),
    '### Disk by peers',
    peerDisk(peers),
    '### Throughput by peers',
    peerTime(peers),
    '### Two and three servers',
    replicaTable(replicas),
    lagText(lag),
    '### Growth by changes',
    growthTable(growth),
  ];
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`;
}

function machineText({
  cores,
  processor,
  memory,
  node,
  postgres,
  embedded,
  heddle,
  day,
  load,
  minutes,
}: Machine): string {
  const words = [
    `Heddle ${heddle} on ${day}: ${cores} cores (${processor}), ${number(memory)} GB of memory, Node ${node}, Postgres ${postgres} with`,
    `its default settings and \`fsync\`, embedded Postgres ${embedded}. Servers, Postgres and the clients shared these cores. The load of`,
    `the machine was ${load[0].toFixed(1)} before and ${load[1].toFixed(1)} after the ${number(minutes)} minutes of the run.`,
  ];
  return words.join('\n');
}

type ByDatabase<Figures> = Readonly<Record<DatabaseName, readonly Figures[]>>;

/**
 * Returns a row for each size on each database. `of` receives the figures of the size and those of the smallest size.
 */
function rowsOf<Figures>(
  by: ByDatabase<Figures>,
  of: (figures: Figures, smallest: Figures) => readonly string[],
): readonly (readonly string[])[] {
  return Object.entries(by).flatMap(([name, list]) => {
    const [smallest] = list;
    return smallest === undefined ? [] : list.map((figures) => [name, ...of(figures, smallest)]);
  });
}

function objectMemory(objects: ByDatabase<ObjectFigures>): string {
  const rows = rowsOf(objects, ({ objects: count, memory }, { memory: least }) => [
    ...[number(count), megabytes(memory.starting), megabytes(memory.empty)],
    ...[withRatio(memory.peak, least.peak, megabytes), withRatio(memory.loaded, least.loaded, megabytes)],
  ]);
  const slope = perThousand(objects, ({ objects: count, memory }) => [count, memory.loaded]);
  return `${table(['database', 'objects', 'start', 'empty', 'apply and load', 'started again'], rows)}\n${slope('objects')}\n`;
}

function objectDisk(objects: ByDatabase<ObjectFigures>): string {
  const head = ['database', 'objects', 'empty', 'applied', 'plan of all objects', '1,000 changes', 'write-ahead log'];
  const rows = rowsOf(objects, ({ objects: count, disk, plans, changes }) => [
    ...[number(count), megabytes(disk.empty.data), megabytes(disk.applied.data)],
    megabytes((disk.planned.data - disk.applied.data) / plans),
    megabytes((disk.changed.data - disk.planned.data) / (changes / 1000)),
    disk.changed.log === undefined ? 'shared' : megabytes(disk.changed.log),
  ]);
  const slope = perThousand(objects, ({ objects: count, disk }) => [count, disk.applied.data]);
  return `${table(head, rows)}\n${slope('objects')}\n`;
}

/**
 * Returns a sentence with the space that 1,000 more objects or peers take, as the slope between the smallest and the
 * largest size.
 */
function perThousand<Figures>(
  by: ByDatabase<Figures>,
  of: (figures: Figures) => readonly [count: number, megabytes: number],
): (what: string) => string {
  const slopes = Object.entries(by).map(([name, list]) => {
    const [few, many] = [list.at(0), list.at(-1)];
    if (few === undefined || many === undefined) throw new Error(`nothing was measured on ${name}`);
    const [[least, small], [most, large]] = [of(few), of(many)];
    return `${megabytes(((large - small) / (most - least)) * 1000)} on ${name}`;
  });
  return (what) => `From the smallest to the largest size, 1,000 ${what} take ${slopes.join(', ')}.`;
}

function objectTime(objects: ByDatabase<ObjectFigures>): string {
  const head = [
    ...['database', 'objects', 'apply all', 'objects per second', 'plan, one changed', 'start', 'one write'],
    ...['writes of 16', 'reads of 16', 'list', 'page of 50', 'list unchanged, 16'],
  ];
  return table(
    head,
    rowsOf(objects, (figures, least) => [
      ...[number(figures.objects), time(figures.applyMs), number(figures.objects / (figures.applyMs / 1000))],
      ...[time(figures.planMs), time(figures.startMs), withRatio(figures.writeMs, least.writeMs, time)],
      ...[withRatio(figures.writes, least.writes, rate), withRatio(figures.reads, least.reads, rate)],
      ...[time(figures.listMs), time(figures.pageMs), withRatio(figures.unchanged, least.unchanged, rate)],
    ]),
  );
}

function peerMemory(peers: ByDatabase<PeerFigures>): string {
  const head = ['database', 'peers', 'enrolling', 'started again', 'connected', 'additional memory', 'per peer'];
  const rows = rowsOf(peers, ({ peers: count, memory, connected, connectedMemory }, { memory: least }) => [
    ...[
      number(count),
      withRatio(memory.peak, least.peak, megabytes),
      withRatio(memory.loaded, least.loaded, megabytes),
    ],
    ...[number(connected), megabytes(connectedMemory), `${number((connectedMemory * 1000) / connected)} kB`],
  ]);
  const slope = perThousand(peers, ({ peers: count, memory }) => [count, memory.loaded]);
  return `${table(head, rows)}\n${slope('peers')}\n`;
}

function peerDisk(peers: ByDatabase<PeerFigures>): string {
  const rows = rowsOf(peers, ({ peers: count, disk }) => [
    ...[number(count), megabytes(disk.empty.data), megabytes(disk.enrolled.data)],
    disk.enrolled.log === undefined ? 'shared' : megabytes(disk.enrolled.log),
  ]);
  const slope = perThousand(peers, ({ peers: count, disk }) => [count, disk.enrolled.data]);
  return `${table(['database', 'peers', 'empty', 'enrolled', 'write-ahead log'], rows)}\n${slope('peers')}\n`;
}

function peerTime(peers: ByDatabase<PeerFigures>): string {
  const head = [
    'database',
    'peers',
    'enrolments',
    'CPU per enrolment',
    'start',
    'connected',
    'first maps',
    'change reaches 100 peers in',
    'writes of 16',
    'list',
  ];
  return table(
    head,
    rowsOf(peers, (figures, least) => [
      ...[number(figures.peers), withRatio(figures.enrolments, least.enrolments, rate)],
      ...[withRatio(figures.enrolmentCpu, least.enrolmentCpu, time), time(figures.startMs), number(figures.connected)],
      ...[rate(figures.maps), withRatio(figures.changeMs, least.changeMs, time)],
      ...[withRatio(figures.writes, least.writes, rate), time(figures.listMs)],
    ]),
  );
}

function replicaTable(replicas: readonly ReplicaFigures[]): string {
  const [one] = replicas;
  if (one === undefined) return '';
  const kinds = [
    ['reads of one object', 'reads'],
    ['writes to one account', 'sameAccount'],
    ['writes, one account per server', 'otherAccounts'],
  ] as const;
  const rows = kinds.flatMap(([what, kind]) =>
    replicas.map(({ servers, [kind]: sum }) => [what, String(servers), ...cellsOf(sum, one[kind])]),
  );
  return table(
    ['24 clients', 'servers', 'total', 'longest', 'CPU of the servers per request', 'CPU of Postgres per request'],
    rows,
  );
}

function cellsOf({ perSecond, longest, serverCpu, postgresCpu }: Sum, one: Sum): readonly string[] {
  return [withRatio(perSecond, one.perSecond, rate), time(longest), time(serverCpu), time(postgresCpu)];
}

function lagText({ reads, stale, sameMs, otherMs, sameEventMs, otherEventMs }: LagFigures): string {
  return table(
    ['after a write on one server', 'the same server', 'another server'],
    [
      ['stale reads', '', `${stale} of ${number(reads)}`],
      ['time of the next read', time(sameMs), time(otherMs)],
      ['time until a reader of events receives it', time(sameEventMs), time(otherEventMs)],
    ],
  );
}

function growthTable({ kept, folded, million }: GrowthFigures): string {
  const meaning: Readonly<Record<string, string>> = {
    changes: 'changed values, for the history and rollbacks',
    revisions: 'author and request of each change',
    audit_events: 'the audit log',
    base_objects: 'base image of the kept history',
  };
  const rows = Object.entries(kept).map(([name, size]) => [
    ...[`\`${name}\``, meaning[name] ?? '', megabytes(size), megabytes(folded[name] ?? 0)],
  ]);
  const sum = (sizes: Readonly<Record<string, number>>) => Object.values(sizes).reduce((all, size) => all + size, 0);
  const head = ['rows of 1,000 single changes', 'content', 'kept', 'folded'];
  const all = table(head, [...rows, ['total', '', megabytes(sum(kept)), megabytes(sum(folded))]]);
  return `${all}\nA million log records of reverse proxies take ${megabytes(million)} with their indexes.\n`;
}

/** Formats a figure, followed by its ratio to the figure of the smallest size. */
function withRatio(figure: number, least: number, write: (figure: number) => string): string {
  return figure === least || least <= 0 ? write(figure) : `${write(figure)} (× ${(figure / least).toPrecision(2)})`;
}

function megabytes(size: number): string {
  return `${number(size)} MB`;
}

function rate(perSecond: number): string {
  return `${number(perSecond)}/s`;
}

function time(milliseconds: number): string {
  return milliseconds >= 10_000 ? `${number(milliseconds / 1000)} s` : `${number(milliseconds)} ms`;
}

/** Formats a number with two or three significant digits; more would only be noise. */
function number(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
