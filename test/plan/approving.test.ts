import { describe, expect, it } from 'vitest';
import { readFile } from '../../src/documents/read.ts';
import { viewPlan } from '../../src/plan/view/view.ts';
import { applyOn, office, planned, planOn } from './steps.ts';

const text = `apiVersion: heddle.dev/v1
kind: Group
metadata: { name: devs }
spec: { peers: [p1, p2] }
---
apiVersion: heddle.dev/v1
kind: DNSZone
metadata: { name: lan }
spec:
  domain: lan.example.com
  distribution_groups: [All]
  records:
    - { name: a.lan.example.com, type: A, content: 10.0.0.1, ttl: 60 }
    - { name: b.lan.example.com, type: A, content: 10.0.0.2, ttl: 60 }
`;
const documentsOf = (yaml: string) => readFile({ path: 'office.yaml', text: yaml }).documents;
const applied = applyOn(office, 'a', documentsOf(text));

/** Returns the changes as the approvers of the plan see them. */
function shown(yaml: string) {
  const { plan, next } = planned(planOn(applied, 'a', documentsOf(yaml)));
  return viewPlan(plan, applied, next).changes;
}

describe('the view of a plan for its approval', () => {
  it('shows the values of a deleted object and where it was stated', () => {
    const [change] = shown(text.slice(text.indexOf('---')));
    expect(change).toMatchObject({ action: 'delete', kind: 'Group', key: 'devs', file: 'office.yaml', line: 1 });
    expect(change?.units).toEqual([
      { path: 'name', before: 'devs' },
      { path: 'peers[p1]', before: [expect.anything()] },
      { path: 'peers[p2]', before: [expect.anything()] },
    ]);
  });

  it('shows the line of each nested object, and the former line of a deleted one', () => {
    const changes = shown(text.replace('b.lan.example.com', 'c.lan.example.com').replace('10.0.0.1', '10.0.0.9'));
    const positions = changes.map(({ action, key, file, line }) => [action, key, `${file}:${line}`]);
    expect(positions.sort()).toEqual([
      ['create', 'lan/c.lan.example.com/A/10.0.0.2', 'office.yaml:14'],
      ['delete', 'lan/b.lan.example.com/A/10.0.0.2', 'office.yaml:14'],
      ['update', 'lan/a.lan.example.com/A/10.0.0.9', 'office.yaml:13'],
    ]);
  });
});
