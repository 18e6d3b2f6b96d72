import { findCreated } from '../../features/config/plans/recover.ts';
import { grantTemporaryAccess } from '../../features/peers/temporary-access.ts';
import { temporaryAccess as operations } from '../../operations/temporary-access.ts';
import { implement } from '../operations/implement.ts';

/** Grants temporary access to a peer. */
export const temporaryAccess = implement(operations, (engine) => ({
  grant: {
    handle: ({ call, params, body }) =>
      grantTemporaryAccess(engine, call, params.peerId, { ...body, rules: withoutRepeats(body.rules) }),
    async recover({ call, body: { name, rules } }, { revision = 0 }) {
      const made = await findCreated(engine, call, engine.registry.get('Peer'), revision);
      return made === undefined ? undefined : { name, id: made.object.id, rules: withoutRepeats(rules) };
    },
  },
}));

/** Returns the rules without duplicates, in their order. */
function withoutRepeats(rules: readonly string[]): readonly string[] {
  return [...new Set(rules)];
}
