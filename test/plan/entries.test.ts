import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { applyOn, document, linesOf, objectOf, office, planned, planOn, refusals } from './steps.ts';

const rule = (name: string, more: JsonObject = {}) => ({
  name,
  action: 'accept',
  protocol: 'all',
  sources: ['All'],
  destinations: ['All'],
  ...more,
});
const policy = (spec: JsonObject) => document('Policy', 'p', { rules: [rule('main')], ...spec });

describe('DNS records', () => {
  const zone = (...contents: readonly string[]) =>
    document('DNSZone', 'lan', {
      domain: 'lan.example.com',
      distribution_groups: ['All'],
      records: contents.map((content) => ({ name: 'www.lan.example.com', type: 'A', content })),
    });

  it('keep their id when their address changes', () => {
    const state = applyOn(office, 'a', [zone('10.0.0.1', '10.0.0.2')]);
    const outcome = planOn(state, 'a', [zone('10.0.0.2', '10.0.0.9')]);
    expect(linesOf(outcome, state)).toEqual(['update DNSRecord/lan/www.lan.example.com/A/10.0.0.9: content']);
    expect(objectOf(planned(outcome).next, 'DNSRecord', 'lan/www.lan.example.com/A/10.0.0.9').id).toBe(
      objectOf(state, 'DNSRecord', 'lan/www.lan.example.com/A/10.0.0.1').id,
    );
  });

  it('are unchanged by a source that does not state them', () => {
    const state = applyOn(office, 'a', [zone()]);
    const { id } = objectOf(state, 'DNSZone', 'lan');
    const byHand = applyOn(state, 'b', [
      document('DNSRecord', 'x', { zone: 'lan', name: 'x.lan.example.com', type: 'A', content: '10.0.0.3' }),
    ]);
    expect(linesOf(planOn(byHand, 'a', [zone()]), byHand)).toEqual([]);
    expect(byHand.childrenOf(id, 'DNSRecord')).toHaveLength(1);
  });

  it('can move from an inline to a standalone document without a change', () => {
    const state = applyOn(office, 'a', [zone('10.0.0.1')]);
    const standalone = document('DNSRecord', 'www', {
      zone: 'lan',
      name: 'WWW.lan.example.com.',
      type: 'A',
      content: '10.0.0.1',
    });
    expect(linesOf(planOn(state, 'a', [zone(), standalone]), state)).toEqual([]);
  });
});

describe('rules of a policy', () => {
  it('keep their ids across changes, and the first has the id of the policy', () => {
    const first = applyOn(office, 'a', [policy({ rules: [rule('web'), rule('db')] })]);
    const before = objectOf(first, 'Policy', 'p');
    const next = applyOn(first, 'a', [policy({ rules: [rule('web', { protocol: 'tcp' }), rule('db'), rule('ssh')] })]);
    const ids = (objectOf(next, 'Policy', 'p').derived['entry_ids'] as { rules: Record<string, string> }).rules;
    expect(ids).toMatchObject((before.derived['entry_ids'] as { rules: Record<string, string> }).rules);
    expect([Object.values(ids).filter((id) => id === before.id).length, new Set(Object.values(ids)).size]).toEqual([
      1, 3,
    ]);
  });

  it('must have different names', () => {
    const stated = [policy({ rules: [rule('z'), rule('web', { protocol: 'tcp' }), rule('web', { protocol: 'udp' })] })];
    const outcome = planOn(office, 'a', stated);
    expect(refusals(outcome)).toEqual(['rule_name_repeated Policy/p /spec/rules']);
  });

  it('are reported by their position in the input, not in sorted order', () => {
    const outcome = planOn(office, 'a', [policy({ rules: [rule('z', { ports: ['80'] }), rule('a')] })]);
    expect(refusals(outcome)).toEqual(['policy_ports_unused Policy/p /spec/rules/0/ports']);
  });
});
