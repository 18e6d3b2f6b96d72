import { parseArgs } from 'node:util';
import { access } from './access.ts';
import { apply } from './apply.ts';
import { commands } from './commands.ts';
import { directory } from './directory.ts';
import { endpointSecurity } from './endpoint-security.ts';
import { enrolment } from './enrolment.ts';
import { http } from './http.ts';
import { install } from './install.ts';
import { kubernetes } from './kubernetes/kubernetes.ts';
import { large } from './large.ts';
import { lists } from './lists.ts';
import { logsOf } from './logs.ts';
import { maps } from './maps.ts';
import { reconnect } from './reconnect.ts';
import { type Benchmark, isWithin, type Row } from './result.ts';
import { scim } from './scim.ts';
import { sizingOf } from './sizing/sizing.ts';
import { sources } from './sources.ts';
import { openStand } from './stand.ts';
import { start } from './start.ts';
import { statements } from './statements.ts';
import { streaming } from './streaming.ts';
import { streams } from './streams.ts';
import { renderJson, renderTable } from './table.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    /** Exits with an error when a budget is missed. */
    strict: { type: 'boolean', default: false },
    /** Number of records in the log. */
    rows: { type: 'string', default: '200000' },
    /** Uses small sizes for `sizing`, to check that everything is measured. Other benchmarks ignore it. */
    quick: { type: 'boolean', default: false },
    /** Page in which `sizing` replaces the figures. Absent: it prints them. */
    page: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
  },
});

/** Every benchmark, in the order in which they are printed. */
const benchmarks: readonly Benchmark[] = [
  apply,
  sources,
  http,
  lists,
  statements,
  start,
  commands,
  large,
  access,
  maps,
  streams,
  reconnect,
  enrolment,
  endpointSecurity,
  logsOf(Number(values.rows)),
  streaming,
  directory,
  kubernetes,
  scim,
  install,
  sizingOf({ quick: values.quick, page: values.page }),
];

const unknown = values.only.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${benchmarks.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}

const isChosen = ({ name, onlyByName = false }: Benchmark) =>
  values.only.length === 0 ? !onlyByName : values.only.includes(name);
const rows = await measure(benchmarks.filter(isChosen));
process.stdout.write(values.json ? renderJson(rows) : renderTable(rows));
if (values.strict && !rows.every(isWithin)) process.exitCode = 1;

async function measure(chosen: readonly Benchmark[]): Promise<readonly Row[]> {
  await using stand = await openStand();
  const measured: Row[] = [];
  for (const benchmark of chosen) {
    process.stderr.write(`measuring ${benchmark.name} …\n`);
    measured.push(...(await benchmark.run(stand)));
  }
  return measured;
}
