import type { Problem } from '../../model/problem.ts';
import { mapReferences } from '../../model/schema/references.ts';
import { facetsOf, parentField } from '../../model/state/facets.ts';
import { completeSpec, contentFromSpec } from '../../model/state/members.ts';
import { derivedFromId, type StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { describeReferrer } from '../checks/referrers.ts';
import type { Edit } from '../finish.ts';
import { objectProblem } from './object.ts';

/** Edits of a rollback after the check, the problems that block it, and warnings about references that are left out. */
export interface Checked {
  readonly edits: readonly Edit[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Checks the edits of a rollback for references to deleted objects, and for children that would lose their parent. A
 * reference in a set to a deleted object is left out when references to its kind may be pending. Every other missing
 * object is a problem.
 */
export function checkRollback(past: Snapshot, present: Snapshot, edits: readonly Edit[]): Checked {
  const leaving = new Set(edits.flatMap(({ before, after }) => (after === undefined && before ? [before.id] : [])));
  const coming = new Set(edits.flatMap(({ after }) => (after === undefined ? [] : [after.id])));
  const isThere = (id: string) => coming.has(id) || (!leaving.has(id) && present.get(id) !== undefined);
  const warnings: Problem[] = [];
  const found = edits.map((edit) => {
    if (edit.after === undefined) return edit;
    const after = withoutPending(present, edit.after, isThere, warnings);
    return after === edit.after ? edit : { ...edit, after };
  });
  const problems = [
    ...found.flatMap(({ after }) => (after === undefined ? [] : missingProblems(past, present, after, isThere))),
    ...found.flatMap(({ before, after }) =>
      after === undefined && before !== undefined ? childrenProblems(past, present, before, leaving) : [],
    ),
  ];
  return { edits: found, problems, warnings };
}

type IsThere = (id: string) => boolean;

/**
 * Returns the object without references in sets that may be pending and whose object is missing. Declarations omit them
 * too.
 */
function withoutPending(state: Snapshot, object: StoredObject, isThere: IsThere, warnings: Problem[]): StoredObject {
  const { spec: fields } = state.registry.get(object.kind);
  const whole = completeSpec(object);
  let dropped = 0;
  const drop = (spec: StoredObject['spec']) =>
    mapReferences(fields, spec, ({ kind, text, single, field }) => {
      const waits = !single && state.registry.find(kind)?.pending === true && !isThere(text);
      if (!waits) return text;
      dropped += 1;
      if (spec === whole) {
        const message = `${object.kind} ${object.key ?? object.name} is restored without ${kind} ${text}, which does not exist any more`;
        warnings.push(objectProblem(object, 'reference_pending', message, field));
      }
      return undefined;
    });
  const content = contentFromSpec(fields, drop(whole), object);
  const declared = object.declared.map((declaration) => ({ ...declaration, stated: drop(declaration.stated) }));
  return dropped === 0 ? object : { ...object, ...content, declared };
}

/** Returns a problem for each missing object that a restored object refers to. */
function missingProblems(
  past: Snapshot,
  present: Snapshot,
  object: StoredObject,
  isThere: IsThere,
): readonly Problem[] {
  const { references } = facetsOf(present.registry, object);
  const gone = new Map(references.filter(({ to }) => !isThere(to)).map(({ to, field }) => [to, field]));
  return [...gone].map(([id, field]) => {
    const was = past.get(id);
    const name = was === undefined ? `an object with the id ${id}` : `${was.kind} ${was.key ?? was.name} (id ${id})`;
    const whose = was?.owner === undefined ? '' : ` of the source ${was.owner}`;
    const message = `${object.kind} ${object.key ?? object.name} would refer again to ${name}${whose}, which does not exist any more; roll it back too (scope all, or its source), or roll back to another revision`;
    return objectProblem(object, 'reference_missing', message, field === parentField ? undefined : field);
  });
}

/** Returns a problem when children that stay prevent the deletion of their parent. */
function childrenProblems(
  past: Snapshot,
  present: Snapshot,
  object: StoredObject,
  leaving: ReadonlySet<string>,
): readonly Problem[] {
  const staying = present
    .referrersOf(object.id)
    .filter(
      ({ from, field }) => field === parentField && !leaving.has(from.id) && !leaving.has(derivedFromId(from) ?? ''),
    );
  if (staying.length === 0) return [];
  const users = staying.map(({ from }) => describeReferrer(present, from));
  const message = `${object.kind} ${object.key ?? object.name} was created after revision ${past.revision} and would be deleted, but others have added objects to it: ${users.join(', ')}; delete those first`;
  return [{ ...objectProblem(object, 'object_in_use', message), usedBy: users }];
}
