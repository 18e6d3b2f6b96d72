import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sourceStates } from '../../src/model/sources/status.ts';
import { callFault } from '../setup/command-lines.ts';
import { seriesFaults, seriesIn } from './queries.ts';
import { at, only, render } from './render.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly description?: string; readonly runbook_url?: string };
}

const text = readFileSync('charts/heddle/alerts/heddle.yaml', 'utf8');
// The cast is safe: the tests below check every member that they use.
const alerts = parse(text).groups[0].rules as readonly Rule[];
const name = ({ alert }: Rule) => alert;

async function rendered(over: object = {}): Promise<readonly Rule[]> {
  const rule = only(await render({ values: ['operators'], over }), 'PrometheusRule');
  return at(rule, 'spec.groups.0.rules') as readonly Rule[];
}

describe('the alerts', () => {
  test.each(alerts.map((rule) => [rule.alert, rule] as const))('%s queries metrics that exist', (_, { expr }) => {
    const series = seriesIn(expr);
    expect(series.length).toBeGreaterThan(0);
    expect(series.flatMap(seriesFaults)).toEqual([]);
    // Every series has this label, so that the chart can replace it with the job and the namespace of the release.
    expect(expr.match(/job="heddle"/g)).toHaveLength(series.length);
  });

  test('state their severity, meaning and remedy, with commands that exist', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels?.severity);
      expect(annotations?.summary, alert).toBeTruthy();
      expect(annotations?.description, alert).toBeTruthy();
    }
    const calls = [...text.matchAll(/`heddle ([^`]+)`/g)].map(([, words = '']) =>
      words.replace(/\{\{.*?\}\}/g, 'x').split(' '),
    );
    expect(calls.length).toBeGreaterThan(3);
    expect(calls.map(callFault).filter((fault) => fault !== undefined)).toEqual([]);
  });

  test('name reconcile results that exist', () => {
    const results = [...text.matchAll(/result=~?"([^"]+)"/g)].flatMap(([, words = '']) => words.split('|'));
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter((result) => !sourceStates.some((state) => state === result))).toEqual([]);
  });

  test('use only labels that their expression keeps', () => {
    for (const { alert, expr, annotations } of alerts) {
      const used = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
      const kept = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
      expect(
        used.filter((label) => !kept.includes(label ?? '')),
        alert,
      ).toEqual([]);
    }
  });

  test('are listed on the operations page', () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    const listed = [...page.matchAll(/^\| \[`(Heddle\w+)`\]/gm)].map(([, alert]) => alert);
    expect(listed).toEqual(alerts.map(name));
  });

  test('link to a runbook with meaning, checks and remedy, with commands and panels that exist', () => {
    const page = readFileSync('docs/runbooks.md', 'utf8');
    const runbooks = new Map(
      page
        .split(/^## /m)
        .slice(1)
        .map((section) => [section.split('\n')[0]?.toLowerCase() ?? '', section] as const),
    );
    expect([...runbooks.keys()]).toEqual(alerts.map((rule) => name(rule).toLowerCase()));
    for (const { alert, annotations } of alerts) {
      const { hash, pathname } = new URL(annotations?.runbook_url ?? 'about:blank');
      expect([pathname.endsWith('/docs/runbooks.md'), hash], alert).toEqual([true, `#${alert.toLowerCase()}`]);
      expect(runbooks.get(hash.slice(1)), alert).toMatch(/\*\*Meaning:\*\*[\s\S]*\*\*Check\*\*[\s\S]*\*\*Action:?\*\*/);
    }
    const calls = [...page.matchAll(/`heddle ([^`]+)`/g)].map(([, words = '']) => words.split(' '));
    expect(calls.map(callFault).filter((fault) => fault !== undefined)).toEqual([]);
    const panels = [...page.matchAll(/panels? ([\s\S]*?)(?::|\.|, and| for)/g)].flatMap(([, text = '']) =>
      [...text.matchAll(/\*([^*]+)\*/g)].map(([, title = '']) => title.replace(/\s+/g, ' ')),
    );
    const titles = JSON.parse(readFileSync('charts/heddle/dashboards/heddle.json', 'utf8')).panels.map(
      ({ title }: { readonly title: string }) => title,
    );
    expect(panels.length).toBeGreaterThan(3);
    expect(titles).toEqual(expect.arrayContaining(panels));
  });
});

describe('the PrometheusRule', () => {
  test('has the alerts of this release, without those excluded and with those added by the values', async () => {
    const rules = await rendered();
    const kept = alerts.map(name).filter((alert) => alert !== 'HeddleDrift');
    expect(rules.map(name)).toEqual([...kept, 'HeddleMemory']);
    const selector = 'namespace="mesh", job="office-heddle-metrics"';
    expect(rules[0]?.expr).toBe(`absent(up{${selector}} == 1)`);
    for (const [at, rule] of rules.slice(0, -1).entries())
      expect(rule).toEqual({ ...alerts[at], expr: alerts[at]?.expr.replaceAll('job="heddle"', selector) });
  });

  test('links to the runbooks at the configured URL', async () => {
    const over = { prometheusRule: { runbookUrl: 'https://wiki.example.com/heddle' } };
    const links = (await rendered(over)).flatMap(({ annotations }) => annotations?.runbook_url ?? []);
    expect(links[0]).toBe('https://wiki.example.com/heddle#heddleaway');
    expect(links.every((link) => link.startsWith('https://wiki.example.com/heddle#heddle'))).toBe(true);
  });

  test('selects the metrics by the labels that the ServiceMonitor sets, or by the configured selector', async () => {
    const over = { server: { metricsPort: 0, openEndpoints: ['/metrics'] } };
    expect((await rendered(over))[0]?.expr).toContain('job="office-heddle"}');
    const selector = 'cluster="a", job=~"heddle.*"';
    expect((await rendered({ prometheusRule: { selector } }))[0]?.expr).toBe(`absent(up{${selector}} == 1)`);
  });
});
