import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { explainedMembers } from '../../src/documents/explained.ts';
import { callFault, heddleCalls } from '../setup/command-lines.ts';
import { helm } from './helm.ts';
import { at, render } from './render.ts';

const members = explainedMembers(readFileSync('charts/heddle/values.yaml', 'utf8'));
const schema: unknown = JSON.parse(readFileSync('charts/heddle/values.schema.json', 'utf8'));

/** Values that are passed to Kubernetes unchanged. Heddle does not document their members. */
const handedOn = [
  ...['podSecurityContext', 'securityContext', 'requests', 'limits', 'labels'],
  ...['startup', 'liveness', 'readiness', 'strategy'],
];

describe('values.yaml', () => {
  test('explains every value', () => {
    expect(members.filter(({ comment }) => comment === undefined)).toEqual([]);
  });

  test('has exactly the values of the schema', () => {
    const stated = members.map(({ path }) => path.join('.')).sort();
    const known = [...propertiesBelow(schema, '')].filter((path) => path !== 'global').sort();
    expect(stated).toEqual(known);
  });
});

describe.each(['heddle', 'heddle-crds'])('the README of the chart %s', (chart) => {
  test('lists every value with its type, its default and its meaning', () => {
    const rows = readFileSync(`charts/${chart}/README.md`, 'utf8').match(/^\| `.*$/gm) ?? [];
    const values = explainedMembers(readFileSync(`charts/${chart}/values.yaml`, 'utf8'));
    expect(rows).toHaveLength(values.length);
    expect(rows.filter((row) => !/^\| `[\w.]+` \| [a-z ]+ \| (?:`.+`)? \| .+ \|$/.test(row))).toEqual([]);
    expect(rows.filter((row) => / any\b/.test(row.split(' | ')[1] ?? ''))).toEqual([]);
  });
});

describe.each(['heddle', 'heddle-crds'])('the hand-written part of the README of the chart %s', (chart) => {
  const text = readFileSync(`charts/${chart}/README.md`, 'utf8');

  test('links to files that exist', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => join(`charts/${chart}`, link));
    expect(links.length).toBeGreaterThan(1);
    expect(links.filter((link) => !existsSync(link))).toEqual([]);
  });

  test('shows values that the chart accepts', async () => {
    const blocks = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = '']) => parse(block));
    const set = [...text.matchAll(/--set (\S+)/g)].map(([, flag = '']) => ['--set', flag]);
    const rendered = await Promise.all([
      ...blocks.map((over) => render({ chart: `charts/${chart}`, values: ['postgres'], over })),
      render({ chart: `charts/${chart}`, args: set.flat() }),
    ]);
    expect(rendered.every((manifests) => manifests.length > 0)).toBe(true);
  });
});

describe('the notes after an installation', () => {
  test.each(['postgres', 'embedded', 'everything'])('name commands that exist, with the values of %s', async (file) => {
    const args = ['--values', `test/charts/values/${file}.yaml`, '--dry-run=client'];
    const { code, out } = await helm(['install', 'office', 'charts/heddle', '--namespace', 'mesh', ...args]);
    expect(code).toBe(0);
    const notes = out.slice(out.indexOf('NOTES:'));
    expect(notes).not.toContain('<no value>');
    const calls = heddleCalls(notes);
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.map(callFault).filter((fault) => fault !== undefined)).toEqual([]);
  });
});

function* propertiesBelow(part: unknown, prefix: string): Generator<string> {
  const reference = String(at(part, '$ref') ?? '').replace('#/definitions/', '');
  const properties = at(reference === '' ? part : at(schema, `definitions.${reference}`), 'properties');
  for (const [name, property] of Object.entries(Object(properties) as Readonly<Record<string, unknown>>)) {
    yield `${prefix}${name}`;
    if (!handedOn.includes(name)) yield* propertiesBelow(property, `${prefix}${name}.`);
  }
}
