import { expect, it } from 'vitest';
import { renderPlan } from '../../src/cli/render/plan.ts';
import { paint } from '../../src/cli/terminal/paint.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { createPlan } from '../../src/features/config/plans/saved-plans.ts';
import { createObject, replaceObject } from '../../src/objects/objects.ts';
import { renderMarkdown } from '../../src/plan/view/markdown.ts';
import { document, objectOf } from '../plan/steps.ts';
import { applyRequest, newOffice, policyBody } from './office.ts';

const rule = {
  name: 'r',
  action: 'accept',
  protocol: 'tcp',
  ports: ['22'],
  bidirectional: true,
  sources: ['All'],
  destinations: ['All'],
};

it('E49 a plan reports who last set a value that a source takes over, and when', async () => {
  await using office = await newOffice('postgres');
  const { engine, call, account } = office;
  const all = objectOf(await engine.snapshots.current(account), 'Group', 'All').id;
  const kind = engine.registry.get('Policy');
  const made = await createObject(engine, call, kind, policyBody('p', all, { description: 'first' }), {
    strict: false,
  });
  const bea = { type: 'user', id: 'u2', name: 'Bea', granted: 'owner' } as const;
  const changed = policyBody('p', all, { description: 'by hand' });
  await replaceObject(engine, { ...call, actor: bea }, kind, made.object.id, changed, { strict: false });
  const stating = document('Policy', 'p', { description: 'by file', enabled: false, rules: [rule] });
  const view = await createPlan(engine, call, applyRequest('a', [stating], { adopt: 'take' }));
  const today = new Date().toISOString().slice(0, 10);
  const reported = view.changes[0]?.units.map(({ path, setBy }) => `${path} ${setBy?.name} ${setBy?.at.slice(0, 10)}`);
  expect(reported).toEqual([`description Bea ${today}`, `enabled Ana ${today}`, `rules[r] Ana ${today}`]);
  for (const text of [renderPlan(view, paint(false)), renderMarkdown(view)])
    expect(text).toContain(`(was set by Bea on ${today})`);
  // The previous value was absent or came from a document, so no user set it.
  await applyDocuments(engine, call, applyRequest('a', [stating], { adopt: 'take' }));
  const next = await createPlan(
    engine,
    call,
    applyRequest('a', [document('Policy', 'p', { ...stating.spec, enabled: true })]),
  );
  expect(next.changes[0]?.units.map(({ setBy }) => setBy)).toEqual([undefined]);
});
