import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readFile } from '../../src/documents/read.ts';
import { registry } from '../model/product.ts';
import { compare } from './differences.ts';
import { documentFaults, structuralFaults } from './verdicts.ts';

const root = new URL('../..', import.meta.url).pathname;

test('every example is a valid document and fits the schema of its CRD', () => {
  const paths = globSync(
    'examples/{kinds,ingress,integrations,nameservers,networks,peers,posture-checks,quickstart}/**/*.yaml',
    {
      cwd: root,
    },
  );
  expect(paths.length).toBeGreaterThan(30);
  const documents = paths.flatMap((path) => readFile({ path, text: readFileSync(`${root}${path}`, 'utf8') }).documents);
  expect(documents.length).toBeGreaterThan(paths.length);
  const faults = documents.flatMap(({ kind: name, spec, position }) => {
    const kind = registry.get(name);
    return [...structuralFaults(kind, spec), ...documentFaults(kind, spec)].map(
      (fault) => `${position.file}: ${fault}`,
    );
  });
  expect(faults).toEqual([]);
});

/** Fault codes that only CEL expressions detect, not the schema. The test on a real API server checks them. */
const byExpression = [
  ...['policy_ports_exclusive', 'policy_ports_unused', 'policy_range_reversed', 'policy_sources_exclusive'],
  ...['policy_destinations_exclusive', 'port_range_invalid', 'process_without_path', 'nameserver_search_unused'],
];

test('the schemas of the CRDs accept and refuse 600 altered specs as documents do, except for known differences', async () => {
  const { accepted, refused, reasons, unexplained } = await compare(600, 1, structuralFaults, (code) =>
    byExpression.includes(code),
  );
  expect(unexplained).toEqual([]);
  expect([accepted > 100, refused > 200, Object.keys(reasons).length > 2]).toEqual([true, true, true]);
});
