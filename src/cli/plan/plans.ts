import type { PlanSummary } from '../../operations/config/plan.ts';
import { plans as operations } from '../../operations/config/plans.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { formatFlag, formatOf } from '../formats.ts';
import { formatPlan } from '../render/formats.ts';
import { renderPlan } from '../render/plan.ts';
import { cell } from '../terminal/cell.ts';
import type { Paint } from '../terminal/paint.ts';
import { renderTable } from '../terminal/table.ts';
import { accessFlag, readPairs, renderPairs, withPairs } from './plan-pairs.ts';
import { planNamed, readNamed } from './stored-plan.ts';

export const plans = defineCommand({
  name: 'plans',
  summary: 'List the plans that the server keeps, newest first, or show one of them.',
  argument: { placeholder: '[PLAN]', doc: 'the id of a plan or the file of `heddle plan --out`', least: 0, most: 1 },
  flags: {
    state: {
      placeholder: 'STATE',
      doc: 'Only plans in this state: ready, needs_approval, approved, applied, expired or failed.',
    },
    source: { placeholder: 'NAME', doc: 'Only plans of this source.' },
    limit: { placeholder: 'N', doc: 'Maximum number of plans (default 100).' },
    ...accessFlag,
    ...formatFlag,
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle plans --state needs_approval', 'List the plans that wait for an approval'],
    ['heddle plans d1ns4cafcndc00000000', 'Look at one plan again'],
  ],
  async run({ flags, positionals, config, terminal }) {
    const format = formatOf(flags);
    const client = await connect(config);
    const [word] = positionals;
    if (word !== undefined) {
      const plan = await readNamed(client, (await planNamed([word])) ?? { id: word }, config.server);
      const pairs = flags['access'] === true ? await readPairs(client, plan) : undefined;
      if (flags['json'] === true) writeJson(terminal, withPairs(plan, pairs));
      else terminal.out(format === undefined ? renderPlan(plan, terminal.paint) : formatPlan(format, plan, pairs));
      if (pairs !== undefined && format === undefined && flags['json'] !== true)
        terminal.out(renderPairs(pairs, terminal.paint));
      return exit.ok;
    }
    const list = await call(client, operations.list, { query: textsOf(flags, ['state', 'source', 'limit']) });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', plans: list });
    else terminal.out(renderPlans(list, terminal.paint));
    return exit.ok;
  },
});

const headings = ['PLAN', 'STATE', 'SOURCE', 'CREATE', 'CHANGE', 'DELETE', 'MADE AT', 'BY'];

function renderPlans(list: readonly PlanSummary[], paint: Paint): string {
  if (list.length === 0) return 'No matching plans.\n';
  const rows = list.map(({ id, state, source, counts, createdAt, createdBy }) => {
    const { create, update, delete: gone } = counts;
    return { cells: [id, state, source, create, update, gone, createdAt, createdBy.name].map(cell) };
  });
  return `${renderTable(headings, rows, paint).join('\n')}\n`;
}
