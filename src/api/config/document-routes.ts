import { testDocuments } from '../../features/config/access/test-results.ts';
import { applyNow } from '../../features/config/plans/apply-plan.ts';
import { planApply } from '../../features/config/plans/documents.ts';
import { readableRequestFindings, refusalFor } from '../../features/config/plans/refusal.ts';
import { createPlan } from '../../features/config/plans/saved-plans.ts';
import { limitWarnings } from '../../model/problem.ts';
import { documents as operations } from '../../operations/config/documents.ts';
import { implement } from '../operations/implement.ts';
import { recoverApplied } from '../recover.ts';
import { readApplyRequest } from './apply-request.ts';
import { bodyLimit } from './body-limit.ts';
import { mayRepeatOutputs } from './repeated-outputs.ts';

/** Validating, planning, applying and testing documents. */
export const documents = implement(operations, (engine, { reader, planLimit }) => {
  const planning = { bodyLimit, onRequest: planLimit };
  return {
    validate: {
      ...planning,
      async handle({ body, ...sender }) {
        const { applyRequest, input } = await readApplyRequest(reader, sender, body);
        const { outcome, before } = await planApply(engine, sender.call, applyRequest);
        if (!outcome.ok) throw refusalFor(before, sender.call, applyRequest, outcome.problems);
        const warnings = readableRequestFindings(before, sender.call, applyRequest, outcome.plan.warnings);
        return { valid: true, documents: input.documents.length, warnings: limitWarnings(warnings) };
      },
    },
    plan: {
      ...planning,
      async handle({ body, ...sender }) {
        const { applyRequest } = await readApplyRequest(reader, sender, body);
        return createPlan(engine, sender.call, applyRequest);
      },
    },
    apply: {
      ...planning,
      recover: recoverApplied(engine),
      mayRepeat: mayRepeatOutputs(engine),
      async handle({ body, query, ...sender }) {
        const { applyRequest } = await readApplyRequest(reader, sender, body);
        if (query.dryRun) return { plan: await createPlan(engine, sender.call, applyRequest), revision: null };
        return applyNow(engine, sender.call, { ...applyRequest, isManualApply: true });
      },
    },
    test: {
      ...planning,
      async handle({ body, ...sender }) {
        const { applyRequest } = await readApplyRequest(reader, sender, body);
        return testDocuments(engine, sender.call, applyRequest);
      },
    },
  };
});
