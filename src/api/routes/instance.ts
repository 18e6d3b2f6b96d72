import type { Engine } from '../../commit/engine.ts';
import { isOperatorAccount } from '../../commit/operator.ts';
import type { Authenticator } from '../../features/auth/authenticate.ts';
import { isSetupRequired, setUp } from '../../features/auth/setup.ts';
import { instance as operations } from '../../operations/instance.ts';
import { implement } from '../operations/implement.ts';

/** How an installation gets its first person. */
export const instance = implement(operations, (engine, { authenticator }) => ({
  read: async () => ({ setup_required: await isSetupRequired(engine) }),
  setUp: ({ body, request }) =>
    setUp(engine, body, () => isTrusted(engine, authenticator, request.headers.authorization)),
}));

/** Whether a call is the operator's, or the machine owner's of the operator's account. */
async function isTrusted(engine: Engine, authenticator: Authenticator, header: string | undefined): Promise<boolean> {
  if (header === undefined || header === '') return false;
  if (authenticator.isOperator(header)) return true;
  const { account, revision, actor, planOnly } = await authenticator.authenticate(header);
  if (planOnly === true || !(await isOperatorAccount(engine, account))) return false;
  return (await engine.snapshots.at(account, revision)).find('User', actor.id)?.derived.system === 'owner';
}
