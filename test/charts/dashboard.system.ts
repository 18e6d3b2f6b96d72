import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { metrics } from '../../src/api/metrics/declared.ts';
import { metricOf, seriesFaults, seriesIn } from './queries.ts';
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
// The cast is safe: the tests below check every member that they use.
const dashboard = JSON.parse(text) as Dashboard;
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
/**
 * `label_values(metric, label)` is a function of Grafana, not of PromQL; it is replaced by a query with the metric and
 * the label.
 */
const variables = dashboard.templating.list.flatMap(({ query }) => {
  const [, series, label] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
  return series === undefined ? [] : [`sum by (${label}) (${series})`];
});

describe('the dashboard', () => {
  test('uses only metrics and labels that the server exposes', () => {
    const named = [...queries, ...variables].flatMap(seriesIn);
    expect(named.length).toBeGreaterThan(15);
    expect(named.flatMap(seriesFaults)).toEqual([]);
  });

  test('shows every metric that the server exposes', () => {
    const shown = new Set(queries.flatMap(seriesIn).map(({ name }) => metricOf(name)));
    expect(Object.keys(metrics).filter((name) => !shown.has(name))).toEqual([]);
  });

  test('has a description for every panel, and no overlapping panels', () => {
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

  test('queries the data source that the viewer selects', () => {
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

  test('is delivered to Grafana as a ConfigMap, unchanged', async () => {
    const map = only(await render({ values: ['everything'] }), 'ConfigMap', '-dashboard');
    expect(map.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    expect(map.metadata.annotations).toEqual({ grafana_folder: 'Mesh' });
    expect(JSON.parse(String(Object(at(map, 'data'))['heddle.json']))).toEqual(dashboard);
  });
});

function cellsOf({ x, y, w, h }: Panel['gridPos']): readonly string[] {
  return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
}
