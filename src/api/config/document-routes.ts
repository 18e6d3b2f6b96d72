import { testDocuments } from '../../features/config/access/test-results.ts';
import { applyNow } from '../../features/config/plans/apply-plan.ts';
import { planApply } from '../../features/config/plans/documents.ts';
import { readableRequestFindings } from '../../features/config/plans/refusal.ts';
import { createPlan } from '../../features/config/plans/saved-plans.ts';
import { errorForProblems } from '../../objects/objects.ts';
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
        const { outcome } = await planApply(engine, sender.call, applyRequest, (before, found) =>
          readableRequestFindings(before, sender.call, applyRequest, found),
        );
        if (!outcome.ok) throw errorForProblems(outcome.problems);
        return { valid: true, documents: input.documents.length, warnings: outcome.plan.warnings };
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
