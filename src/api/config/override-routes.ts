import {
  endOverride,
  findOverridden,
  listOverrides,
  overrideObject,
} from '../../features/config/overrides/override-object.ts';
import type { JsonObject } from '../../lib/json.ts';
import { InvalidInput } from '../../model/errors.ts';
import { overrides as operations } from '../../operations/config/overrides.ts';
import { overrideIn } from '../break-glass.ts';
import { implement } from '../operations/implement.ts';

/** Overrides of values that sources state, with names instead of ids. */
export const overrides = implement(operations, (engine) => ({
  list: ({ call, query }) => listOverrides(engine, call, query.source),
  start: {
    handle: ({ call, body }) =>
      overrideObject(engine, call, body, requireValues(body.values), overrideIn(body.reason, body.ttl)),
    recover: async ({ call, body }, { revision }) =>
      revision === undefined ? undefined : findOverridden(engine, call, body, body.values, revision),
  },
  end: {
    handle: ({ call, body }) => endOverride(engine, call, body, body.paths ?? []),
    recover: async ({ call, body }, { revision }) =>
      revision === undefined ? undefined : findOverridden(engine, call, body, {}, revision),
  },
}));

function requireValues(values: JsonObject): JsonObject {
  if (Object.keys(values).length > 0) return values;
  throw new InvalidInput('`values` must be an object with the new values by field, such as {"metric": 5}');
}
