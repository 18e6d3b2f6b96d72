import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isMap, isScalar, type Node, parseDocument, type YAMLMap } from 'yaml';
import { callFault, heddleCalls } from '../setup/command-lines.ts';
import { helm } from './helm.ts';
import { at } from './render.ts';

const text = readFileSync('charts/heddle/values.yaml', 'utf8');
const values = parseDocument(text).contents as YAMLMap<Node, Node>;
const schema: unknown = JSON.parse(readFileSync('charts/heddle/values.schema.json', 'utf8'));

/** Values that are handed to Kubernetes as they are: what is in them is not ours to explain. */
const handedOn = [
  ...['podSecurityContext', 'securityContext', 'requests', 'limits', 'labels'],
  ...['startup', 'liveness', 'readiness', 'strategy'],
];

describe('values.yaml', () => {
  test('explains every value', () => {
    const unexplained = [...entriesBelow(values)].filter(([, explained]) => !explained).map(([path]) => path);
    expect(unexplained).toEqual([]);
  });

  test('has the values of the schema, and the schema those of values.yaml', () => {
    const stated = [...entriesBelow(values)].map(([path]) => path).sort();
    const known = [...propertiesBelow(schema, '')].filter((path) => path !== 'global').sort();
    expect(stated).toEqual(known);
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

/** Every value with whether a comment stands in front of it; a map with comments inside needs none itself. */
function* entriesBelow(map: YAMLMap<Node, Node>, prefix = ''): Generator<readonly [path: string, explained: boolean]> {
  for (const [index, { key, value }] of map.items.entries()) {
    const name = isScalar(key) ? String(key.value) : '';
    const deeper = isMap<Node, Node>(value) && value.items.length > 0 && !handedOn.includes(name) ? value : undefined;
    const before = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    yield [`${prefix}${name}`, deeper !== undefined || (before ?? '').trim() !== ''];
    if (deeper !== undefined) yield* entriesBelow(deeper, `${prefix}${name}.`);
  }
}

function* propertiesBelow(part: unknown, prefix: string): Generator<string> {
  const reference = String(at(part, '$ref') ?? '').replace('#/definitions/', '');
  const properties = at(reference === '' ? part : at(schema, `definitions.${reference}`), 'properties');
  for (const [name, property] of Object.entries(Object(properties) as Readonly<Record<string, unknown>>)) {
    yield `${prefix}${name}`;
    if (!handedOn.includes(name)) yield* propertiesBelow(property, `${prefix}${name}.`);
  }
}
