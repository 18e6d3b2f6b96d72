import { listObjects } from '../../objects/object-list.ts';
import { objects as operations } from '../../operations/config/objects.ts';
import { implement } from '../operations/implement.ts';
import { requireKnownKind } from './known-kind.ts';

/** Status of all objects. */
export const objects = implement(operations, (engine) => ({
  list({ call, query }) {
    requireKnownKind(engine.registry, query.kind);
    return listObjects(engine, call, query);
  },
}));
