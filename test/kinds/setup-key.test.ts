import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { all, faultsOf, group, registry, stateFaultsOf, stateOf, stored, texts } from './objects.ts';

const kind = registry.get('SetupKey');
const plain = { name: 'CI', type: 'reusable', expires_in: 86400, usage_limit: 0 };
const key = (change: JsonObject = {}, derived: JsonObject = {}): StoredObject =>
  stored('SetupKey', 'setupkey-1', { ...plain, ...change }, { derived });

describe('a setup key', () => {
  it.each([
    ['reusable', 0, 0, []],
    ['reusable', 7, 7, []],
    ['one-off', 0, 1, []],
    ['one-off', 1, 1, []],
    ['one-off', 2, 2, ['setup_key_limit /usage_limit']],
  ])('that is %s with usage limit %s is stored with limit %s and has the faults %j', (type, given, kept, faults) => {
    const spec = { ...plain, type, usage_limit: given };
    expect(faultsOf('SetupKey', spec)).toEqual(faults);
    expect(key({ type, usage_limit: given }).spec['usage_limit']).toBe(kept);
  });

  it('cannot assign the group All', () => {
    expect(texts(stateFaultsOf(key({ auto_groups: ['devs'] }), group('devs'), all))).toEqual([]);
    expect(texts(stateFaultsOf(key({ auto_groups: ['All', 'devs'] }), group('devs'), all))).toEqual([
      'group_all_assigned /auto_groups/0',
    ]);
  });

  it('has a generated upper-case UUID; only its hash and its first characters are stored', () => {
    const planEnvironment = {
      now: '2026-01-02T03:04:05.000Z',
      random: (bytes: number) => new Uint8Array(bytes).fill(255),
    };
    const value = 'FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF';
    expect(kind.generate?.(key(), planEnvironment)).toEqual({
      derived: { key_hash: sha256Base64(value), key_mask: 'FFFFF****', expires: '2026-01-03T03:04:05.000Z' },
      outputs: { key: value },
    });
  });
});

describe('the state of a setup key', () => {
  const now = '2026-02-01T00:00:00.000Z';
  const past = '2026-01-31T00:00:00.000Z';
  const future = '2026-02-02T00:00:00.000Z';
  it.each<readonly [string, JsonObject, JsonObject]>([
    ['valid', {}, { expires: future }],
    ['valid', {}, {}],
    ['valid', { usage_limit: 2 }, { expires: future, used_times: 1 }],
    ['overused', { usage_limit: 2 }, { expires: future, used_times: 2 }],
    ['revoked', { usage_limit: 2, revoked: true }, { expires: future, used_times: 2 }],
    ['expired', { usage_limit: 2, revoked: true }, { expires: past, used_times: 2 }],
    ['expired', {}, { expires: now }],
  ])('is %s for the spec %j and the derived values %j', (expected, change, derived) => {
    const state = stateOf().viewedAs({ now, viewer: 'ana' });
    const shown = (member: string) => kind.computed[member]?.value(key(change, derived), state);
    expect([shown('state'), shown('valid')]).toEqual([expected, expected === 'valid']);
  });
});

describe('events of a setup key', () => {
  const state = stateOf(group('devs'), group('ci'));
  const derived = { key_mask: 'A616F****' };
  const meta = { name: 'CI', type: 'reusable', key: 'A616F****' };
  const events = (was: JsonObject, is: JsonObject) => kind.updateEvents?.(key(was, derived), key(is, derived), state);

  it('are setupkey.revoke when it is revoked and setupkey.update when that is reversed', () => {
    expect(events({}, { revoked: true })).toEqual([{ code: 'setupkey.revoke', meta }]);
    expect(events({ revoked: true }, {})).toEqual([{ code: 'setupkey.update', meta }]);
    expect(events({}, {})).toEqual([]);
  });

  it('include one for each group that was added or removed', () => {
    const added = { code: 'setupkey.group.add', meta: { group: 'devs', group_id: 'devs', setupkey: 'CI' } };
    const gone = { code: 'setupkey.group.delete', meta: { group: 'ci', group_id: 'ci', setupkey: 'CI' } };
    expect(kind.createEvents?.(key({ auto_groups: ['devs'] }), state)).toEqual([added]);
    expect(events({ auto_groups: ['ci'] }, { auto_groups: ['devs'] })).toEqual([added, gone]);
  });
});
