import type { Engine } from '../../commit/engine.ts';
import { isOperatorAccount } from '../../commit/operator.ts';
import type { Authenticator } from '../../features/auth/authenticate.ts';
import { isSetupRequired, setUpServer } from '../../features/auth/setup.ts';
import { instance as operations } from '../../operations/instance.ts';
import { implement } from '../operations/implement.ts';

/** Setup of a new installation, which creates its first person. */
export const instance = implement(operations, (engine, { authenticator }) => ({
  read: async () => ({ setup_required: await isSetupRequired(engine) }),
  setUp: ({ body, request }) =>
    setUpServer(engine, body, () => isTrusted(engine, authenticator, request.headers.authorization)),
}));

/** Whether the caller is the operator, or the machine owner of the operator's account. */
async function isTrusted(engine: Engine, authenticator: Authenticator, header: string | undefined): Promise<boolean> {
  if (header === undefined || header === '') return false;
  if (authenticator.isOperator(header)) return true;
  const { account, revision, actor, planOnly } = await authenticator.authenticate(header);
  if (planOnly === true || !(await isOperatorAccount(engine, account))) return false;
  return (await engine.snapshots.atLeast(account, revision)).find('User', actor.id)?.derived.system === 'owner';
}
