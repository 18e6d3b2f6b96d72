import { describe, expect, test } from 'vitest';
import * as kinds from '../../src/kinds/index.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { explain } from '../../src/model/lower/explain.ts';
import { fieldsOn } from '../../src/model/lower/shape.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';
import { runHere } from './collect.ts';

const registry = createRegistry(Object.values(kinds));

describe('heddle explain', () => {
  test('prints the documentation of a field with its type, its limits and how it merges', async () => {
    const { code, out, note } = await runHere(['explain', 'Policy.rules.ports']);
    expect([code, note]).toEqual([0, '']);
    expect(out).toContain('Policy.rules.ports  (list, each: text (port))');
    expect(out).toContain('A set: each element belongs to the source that states it.');
  });

  test('marks required fields, and shows units and an example', async () => {
    const policy = (await runHere(['explain', 'Policy'])).out;
    expect(policy).toMatch(/^ +name +text, required\. /m);
    expect(policy).toMatch(/^ +description +text\. /m);
    const expiry = (await runHere(['explain', 'SetupKey.expires_in'])).out;
    expect(expiry).toContain('A number of seconds without a unit: write 2592000 for 30 days; `30d` is not a number.');
    expect(expiry).toMatch(/Example: expires_in: \d+/);
    expect((await runHere(['explain', 'Policy.rules.ports'])).out).toContain('Example: ports: ["5432","6432"]');
    const record = JSON.parse((await runHere(['explain', 'DNSZone.records.ttl', '--json'])).out);
    expect(record).toMatchObject({ path: 'records.ttl', example: expect.any(Number) });
  });

  test('accepts the name of a kind in any case, and the path as in documents', async () => {
    const short = await runHere(['explain', 'policy.rules']);
    expect((await runHere(['explain', 'Policy.spec.rules'])).out).toBe(short.out);
    expect(short.out).toContain('Policy.rules');
  });

  test('shows inline children as fields of their parent', async () => {
    expect((await runHere(['explain', 'DNSZone.records.content'])).out).toContain('DNSZone.records.content');
  });

  test.each(registry.kinds)('documents $name and each of its fields', (kind) => {
    for (const name of ['', ...entriesOf(fieldsOn(kind, 'document')).map(([field]) => `.${field}`)]) {
      const found = explain(registry, `${kind.name}${name}`);
      expect(found).toMatchObject({ kind: kind.name, doc: expect.stringMatching(/\S/) });
    }
  });

  test('suggests the name that was probably meant', async () => {
    const { code, note } = await runHere(['explain', 'Polcy']);
    expect(code).toBe(1);
    expect(note).toContain('did you mean `Policy`?');
    expect((await runHere(['explain', 'Policy.ruels'])).note).toContain('did you mean `rules`?');
    expect((await runHere(['explain', 'Policy.rules.ports.more'])).note).toContain(
      '`Policy.rules.ports` has no members',
    );
  });

  test('prints one JSON document with --json', async () => {
    const { out } = await runHere(['explain', 'Group.peers', '--json']);
    expect(JSON.parse(out)).toMatchObject({ formatVersion: '1.0', kind: 'Group', path: 'peers' });
  });
});
