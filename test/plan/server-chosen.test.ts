import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import { integer, keyed, oneOf, secret, string } from '../../src/model/schema/field.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { planCreate, planReplace, type RequestOutcome } from '../../src/plan/requests/requests.ts';

/** A kind whose seat the server chooses: the number of existing guests. */
const invitee = defineKind({
  name: 'Guest',
  doc: 'A guest.',
  module: 'test',
  document: { allowed: true },
  spec: {
    name: string({ doc: 'Name.', required: true }),
    class: oneOf(['first', 'second'], { doc: 'Class.', default: 'second' }),
    seat: integer({ doc: 'Seat.', default: 0, serverChosen: 0 }),
    locks: keyed(
      {
        on: string({ doc: 'On.', required: true }),
        code: secret({ doc: 'Code.', read: 'empty', keptOnReplace: true }),
      },
      { doc: 'Locks.', key: 'on' },
    ),
  },
  checkMutation: ({ before, after }) =>
    before !== undefined && before.spec['class'] !== after?.spec['class']
      ? [{ code: 'field_fixed', path: '/class', message: 'no' }]
      : [],
  derivedChanges: ({ after }, state) =>
    after?.spec['seat'] === 0 && after.derived['seat'] === undefined
      ? [{ change: after, spec: after.spec, derived: { seat: state.countOf('Guest') } }]
      : [],
  example: {},
});

const registry = createRegistry([invitee]);
const validator = createValidator(registry);
const context = (snapshot: Snapshot) => ({
  ...{ snapshot, validator, strict: true, now: '2026-01-02T03:04:05Z' },
  newId: () => 'g',
});
const none = emptySnapshot(registry, 'acc');
const nextOf = (outcome: RequestOutcome): Snapshot => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  return outcome.next;
};
const create = (spec: JsonObject) => nextOf(planCreate(context(none), invitee, { name: 'ann', ...spec }));
const inviteeOf = (state: Snapshot): StoredObject => state.get('g') ?? expect.fail('there is no guest');
const replace = (state: Snapshot, spec: JsonObject) =>
  planReplace(context(state), invitee, inviteeOf(state), { name: 'ann', ...spec });
const seatIn = (state: Snapshot) => lowerToResponse(registry, inviteeOf(state), state)['seat'];

describe('a value chosen by the server', () => {
  const chosen = create({});

  it('is returned in answers, while the spec leaves the choice to the server', () => {
    expect(seatIn(chosen)).toBe(1);
    expect(inviteeOf(chosen).spec['seat']).toBe(0);
  });

  it.each([{}, { seat: 0 }, { seat: 1 }])('is kept when a replace sends %j', (spec) => {
    const outcome = replace(chosen, spec);
    expect(outcome.ok && outcome.plan.counts).toEqual({ create: 0, update: 0, delete: 0, claims: 0 });
  });

  it('is replaced by an explicit value, which is kept when the choice is left to the server again', () => {
    const own = nextOf(replace(chosen, { seat: 7 }));
    expect(seatIn(own)).toBe(7);
    for (const spec of [{}, { seat: 0 }]) expect(seatIn(nextOf(replace(own, spec)))).toBe(7);
  });
});

it('a requested change is validated also if a derived change of the same object follows', () => {
  const stored = create({ seat: 3 });
  const waiting = { ...inviteeOf(stored), spec: { ...inviteeOf(stored).spec, seat: 0 } };
  const outcome = replace(stored.with({ put: [waiting], remove: [] }), { class: 'first' });
  expect(outcome.ok ? [] : outcome.problems.map(({ code }) => code)).toEqual(['field_fixed']);
});

it('a secret in a list entry is kept when a request omits it, and returned empty', () => {
  const stored = create({ locks: [{ on: 'door', code: 'x' }, { on: 'gate' }] });
  const kept = inviteeOf(nextOf(replace(stored, { locks: [{ on: 'door' }, { on: 'gate' }] })));
  expect(kept.spec['locks']).toEqual([{ on: 'door', code: 'sealed:none:' }, { on: 'gate' }]);
  expect(lowerToResponse(registry, kept, stored)['locks']).toEqual([
    { on: 'door', code: '' },
    { on: 'gate', code: '' },
  ]);
});
