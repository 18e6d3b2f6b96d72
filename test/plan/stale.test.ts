import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/model/problem.ts';
import type { PlanView } from '../../src/operations/config/plan.ts';
import { explainMoved, explainStale, type Touch } from '../../src/plan/view/stale.ts';
import { change, view } from './views.ts';

const touch = (more: Partial<Touch>): Touch => ({
  ...{ revision: 5, by: 'Ana', action: 'update', kind: 'Policy', id: 'id-p', key: 'p', name: 'p', paths: [] },
  ...more,
});
const reported = (saved: PlanView, fresh: PlanView, ...touches: readonly Touch[]) =>
  explainStale(saved, { ok: true, plan: fresh }, touches).map(({ message }) => message);
const policy = (...units: Parameters<typeof change>[3] & object) =>
  view({ changes: [change('update', 'Policy', 'p', units)] });

describe('the explanation of a stale plan', () => {
  it('E104 names a unit that has another value now, and who changed it', () => {
    const saved = policy({ path: 'description', before: 'old', after: 'new' });
    const fresh = policy({ path: 'description', before: 'by hand', after: 'new' });
    const touches = [
      touch({ revision: 7, by: 'Bo', paths: ['enabled'] }),
      touch({ revision: 6, paths: ['description'] }),
    ];
    expect(reported(saved, fresh, ...touches)).toEqual([
      'Policy p: `description` is "by hand" now and was "old" when the plan was made; Ana changed it in revision 6',
    ]);
  });

  it('E104 names a unit that would get a different value now', () => {
    const saved = policy({ path: 'rules[web].sources', before: [], after: ['devs'] });
    const fresh = policy({ path: 'rules[web].sources', before: [], after: ['ops'] });
    expect(reported(saved, fresh)).toEqual([
      'Policy p: `rules[web].sources` would become ["ops"] now and was to become ["devs"]',
    ]);
  });

  it('names units that would now change as well, and units that no longer change', () => {
    const saved = policy({ path: 'a', before: 1, after: 2 }, { path: 'b', before: 1, after: 2 });
    const fresh = policy({ path: 'b', before: 1, after: 2 }, { path: 'c', before: 1, after: 2 });
    expect(reported(saved, fresh)).toEqual([
      'Policy p: `a` already has the planned value',
      'Policy p: `c` would now change as well: c 1 → 2',
    ]);
  });

  it('names an object that exists already, and one that is no longer to be deleted', () => {
    const saved = view({ changes: [change('create', 'Group', 'devs'), change('delete', 'Group', 'old')] });
    const created = touch({ action: 'create', kind: 'Group', id: 'x', key: 'devs', revision: 8 });
    expect(reported(saved, view(), created)).toEqual([
      'Group devs: was to be created and already exists; Ana created it in revision 8',
      'Group old: was to be deleted and would not be deleted any more',
    ]);
  });

  it('names the action that would be performed instead', () => {
    const saved = view({ changes: [change('create', 'Group', 'devs')] });
    const fresh = view({ changes: [change('update', 'Group', 'devs', [{ path: 'name', before: 'a', after: 'b' }])] });
    const made = touch({ action: 'create', kind: 'Group', id: 'id-devs', key: 'devs' });
    expect(reported(saved, fresh, made)).toEqual([
      'Group devs: was to be created and would now be changed; Ana created it in revision 5',
    ]);
  });

  it('names an object that would now change as well', () => {
    const fresh = view({
      changes: [
        change('update', 'Group', 'devs', [
          { path: 'name', before: 'a', after: 'b' },
          { path: 'peers[p1]', after: ['source'] },
        ]),
      ],
    });
    expect(reported(view(), fresh, touch({ kind: 'Group', id: 'id-devs', key: 'devs' }))).toEqual([
      'Group devs: would now be changed as well (name "a" → "b", +peers[p1]); Ana changed it in revision 5',
    ]);
  });

  it('reports that another object has the name now', () => {
    const saved = view({ changes: [change('delete', 'Group', 'devs')] });
    const fresh = view({ changes: [change('delete', 'Group', 'devs', [], { id: 'other' })] });
    expect(reported(saved, fresh)).toEqual([
      'Group devs: is now another object with that name (id other, before id-devs)',
    ]);
  });

  it('names a guard that trips now or no longer trips, and an object that other sources state now', () => {
    const claim = { action: 'claim', kind: 'Group', key: 'devs', name: 'devs', id: 'id-devs' } as const;
    const fresh = view({ claims: [claim], guards: [{ guard: 'deletes', message: 'deletes 9 of 10' }] });
    expect(reported(view(), fresh, touch({ action: 'release', kind: 'Group', id: 'id-devs', key: 'devs' }))).toEqual([
      'Group devs: has other claims than when the plan was made; Ana changed the claims on it in revision 5',
      'a guard would now report: deletes 9 of 10',
    ]);
    const fewer = view({ guards: [{ guard: 'access_lost', message: 'takes away access between 9 pairs' }] });
    expect(reported(fewer, view())).toEqual(['a guard no longer reports: takes away access between 9 pairs']);
  });

  it('names the object of a guard in the members of the problem, so that readers can be limited to kinds', () => {
    const object = { kind: 'Group', key: 'devs' };
    const fresh = view({ guards: [{ guard: 'protected', ...object, message: 'deletes Group devs' }] });
    const message = 'a guard would now report: deletes Group devs';
    expect(explainStale(view(), { ok: true, plan: fresh }, [])).toEqual([{ code: 'plan_stale', ...object, message }]);
  });

  it('E105 reports the problems of the input now, and the changes since the plan', () => {
    const problem: Problem = {
      code: 'reference_ambiguous',
      message: 'two groups are called devs',
      file: 'a.yaml',
      line: 3,
    };
    const touches = Array.from({ length: 22 }, (_, at) =>
      touch({ action: 'create', kind: 'Group', key: `g${at}`, revision: 30 - at }),
    );
    const problems = explainStale(view(), { ok: false, problems: [problem] }, touches);
    expect(problems[0]).toEqual(problem);
    expect(problems[1]).toMatchObject({ code: 'changed_since', message: 'in revision 30 Ana created Group g0' });
    expect(problems).toHaveLength(22);
    expect(problems.at(-1)?.message).toBe('and 2 more changes');
  });

  it('names an object that was deleted and created again', () => {
    const peer = { kind: 'Peer', key: 'zed', name: 'zed' };
    const came = touch({ ...peer, action: 'create', id: 'new', revision: 7, by: 'a key' });
    const went = touch({ ...peer, action: 'delete', id: 'old', revision: 6 });
    expect(reported(view(), view(), came, went)).toEqual([
      'Peer zed: is now another object with that name (id new, before old); a key created it in revision 7',
    ]);
  });

  it('gives a reason even if no difference is shown', () => {
    expect(reported(view(), view(), touch({ action: 'release' }))).toEqual([
      'the owner or the protection of what the plan changes is different now; Ana changed the claims on it in revision 5',
    ]);
  });

  it('lists at most 100 differences', () => {
    const changes = Array.from({ length: 130 }, (_, at) => change('create', 'Group', `g${at}`));
    const messages = reported(view({ changes }), view());
    expect([messages.length, messages.at(-1)]).toEqual([101, 'and 30 more differences']);
  });

  it('names the revision that the plan requires', () => {
    expect(explainMoved(4, 5, [touch({})]).map(({ message }) => message)).toEqual([
      'the account is at revision 5, and the plan requires revision 4, on which it was made',
      'in revision 5 Ana changed Policy p',
    ]);
  });
});
