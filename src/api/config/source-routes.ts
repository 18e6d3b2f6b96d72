import {
  createSource,
  deleteSource,
  detachSource,
  findDetached,
  replaceSource,
  requestSourceReconcile,
  setSourceSuspended,
  showSource,
} from '../../features/sources/source-admin.ts';
import { sourceStatuses } from '../../features/sources/status.ts';
import { sources as operations } from '../../operations/config/sources.ts';
import { objectBody, textMember } from '../input/bodies.ts';
import { implement } from '../operations/implement.ts';

/** Sources of documents. */
export const sources = implement(operations, (engine, { sources: rules }) => ({
  list: ({ call }) => sourceStatuses(engine, call),
  create: {
    handle: ({ call, request }) => createSource(engine, call, objectBody(request.body), rules),
    recover: ({ call, request }) => showSource(engine, call, textMember(objectBody(request.body), 'name')),
  },
  read: ({ call, params }) => showSource(engine, call, params.name),
  replace: ({ call, params, request }) =>
    replaceSource(engine, call, { id: params.name, body: objectBody(request.body), rules }),
  delete: ({ call, params, query }) => deleteSource(engine, call, params.name, query),
  reconcile: ({ call, params }) => requestSourceReconcile(engine, call, params.name),
  suspend: {
    handle: ({ call, params }) => setSourceSuspended(engine, call, params.name, true),
    recover: ({ call, params }) => showSource(engine, call, params.name),
  },
  resume: {
    handle: ({ call, params }) => setSourceSuspended(engine, call, params.name, false),
    recover: ({ call, params }) => showSource(engine, call, params.name),
  },
  detach: {
    handle: ({ call, params }) => detachSource(engine, call, params.name),
    recover: async ({ call, params }, { revision }) =>
      revision === undefined ? undefined : findDetached(engine, call, params.name, revision),
  },
}));
