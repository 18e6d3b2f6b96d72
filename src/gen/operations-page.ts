import { metrics } from '../api/metrics/declared.ts';
import { readSettingsFile } from '../documents/settings-file.ts';
import { asObject, type Json, type JsonObject } from '../lib/json.ts';
import { replaceBlock, table } from './markdown.ts';

/**
 * Returns the operator's page with up-to-date tables of alerts and metrics. The rest of the page is written by hand.
 */
export function operationsPage(page: string, alertFile: string): string {
  return replaceBlock(replaceBlock(page, 'alerts', alertTable(alertFile)), 'metrics', metricTable());
}

function metricTable(): string {
  const rows = Object.entries(metrics).map(([name, { type, labels, help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return table(['Metric', 'Type', 'Labels', 'Meaning'], rows);
}

function alertTable(text: string): string {
  const rows = readAlerts(text).map((rule) => {
    const { severity } = asObject(rule['labels']);
    const name = String(rule['alert']);
    return [
      `[\`${name}\`](runbooks.md#${name.toLowerCase()})`,
      String(severity),
      String(rule['for'] ?? 'at once'),
      replacePlaceholders(String(asObject(rule['annotations'])['summary'])),
    ];
  });
  return table(['Alert', 'Severity', 'After', 'Summary'], rows);
}

/** Replaces the template expressions of Prometheus: labels by their names in capitals, anything else by `N`. */
function replacePlaceholders(summary: string): string {
  return summary
    .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => label.toUpperCase())
    .replace(/\{\{.*?\}\}/g, 'N');
}

function readAlerts(text: string): readonly JsonObject[] {
  const file = readSettingsFile({ path: 'charts/heddle/alerts/heddle.yaml', text });
  if ('problems' in file) throw new Error(file.problems.map(({ message }) => message).join(' '));
  return listOf(file.value['groups']).flatMap((group) => listOf(group['rules']));
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item) => asObject(item)) : [];
}
