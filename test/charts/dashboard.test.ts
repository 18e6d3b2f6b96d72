import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { type Metric, metrics } from '../../src/api/metrics.ts';
import { at, only, render } from './render.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const text = readFileSync('charts/heddle/dashboards/heddle.json', 'utf8');
// The tests below look at all that is used of it.
const dashboard = JSON.parse(text) as Dashboard;
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
/** `label_values(metric, label)` is Grafana's own: a metric and a label. */
const variables = dashboard.templating.list.flatMap(({ query }) => {
  const [, series, label] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
  return series === undefined ? [] : [`sum by (${label}) (${series})`];
});

describe('the dashboard', () => {
  test('names only metrics and labels that the server exposes', () => {
    const named = [...queries, ...variables].flatMap(seriesIn);
    const faults = named.flatMap(({ name, labels }) => {
      const known = labelsOf(name);
      if (known === undefined) return [`the server exposes no ${name}`];
      const unknown = labels.filter((label) => !known.includes(label));
      return unknown.map((label) => `${name} has no label ${label}`);
    });
    expect(named.length).toBeGreaterThan(15);
    expect(faults).toEqual([]);
  });

  test('shows every metric that the server exposes', () => {
    const shown = new Set(queries.flatMap(seriesIn).map(({ name }) => metricOf(name)));
    expect(Object.keys(metrics).filter((name) => !shown.has(name))).toEqual([]);
  });

  test('explains every panel, and overlaps none', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos, type, description } of dashboard.panels) {
      if (type !== 'row') expect(description, title).toBeTruthy();
      for (const cell of cellsOf(gridPos)) {
        expect(taken.get(cell), title).toBeUndefined();
        taken.set(cell, title);
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  test('asks the data source that its reader chose', () => {
    const others = dashboard.panels.filter(
      ({ type, datasource }) => type !== 'row' && !/^\$\{datasource\}$/.test(datasource?.uid ?? ''),
    );
    expect(others).toEqual([]);
    const names = dashboard.templating.list.map(({ name }) => name);
    const used = [...text.matchAll(/\$\{?(\w+)/g)]
      .map(([, name]) => name ?? '')
      .filter((name) => !name.startsWith('__'));
    expect([...new Set(used)].sort()).toEqual([...names].sort());
  });

  test('reaches Grafana as a ConfigMap, unchanged', async () => {
    const map = only(await render({ values: ['everything'] }), 'ConfigMap', '-dashboard');
    expect(map.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    expect(map.metadata.annotations).toEqual({ grafana_folder: 'Mesh' });
    expect(JSON.parse(String(Object(at(map, 'data'))['heddle.json']))).toEqual(dashboard);
  });
});

interface Series {
  readonly name: string;
  readonly labels: readonly string[];
}

/** The series that a query reads, each with the labels that the query uses; throws where it is no query. */
function seriesIn(query: string): readonly Series[] {
  // What Grafana puts in place of its variables outside of strings.
  const text = query.replace(/\$__(?:rate_interval|range)/g, '5m');
  const names: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`not a query from ${from} on: ${text}`);
      if (type.name === 'LabelName') labels.push(text.slice(from, to));
      if (type.name === 'Identifier') names.push(text.slice(from, to));
    },
  });
  return names.map((name) => ({ name, labels }));
}

/** A histogram is read by three series. */
function metricOf(series: string): string {
  return series.replace(/_(?:bucket|count|sum)$/, '');
}

/** The labels of a series; those of its collector included. */
function labelsOf(series: string): readonly string[] | undefined {
  const metric: Metric | undefined = (metrics as Readonly<Record<string, Metric>>)[metricOf(series)];
  if (metric === undefined || (metric.type === 'histogram') !== (metricOf(series) !== series)) return undefined;
  return [...metric.labels, ...(series.endsWith('_bucket') ? ['le'] : []), 'job', 'instance'];
}

function cellsOf({ x, y, w, h }: Panel['gridPos']): readonly string[] {
  return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
}
