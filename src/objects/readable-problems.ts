import type { Call } from '../commit/engine.ts';
import { nounOf } from '../model/declare/kind-noun.ts';
import type { Problem } from '../model/problem.ts';
import type { SourceStatus } from '../model/sources/status.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { isAllowed } from '../plan/checks/authorize.ts';
import { kindOfReferrer, omittedReferrersPattern, type ReferrerText } from '../plan/checks/referrers.ts';
import { createKindNameReadCheck, createKindReadCheck } from './object-list.ts';

type Reader = Pick<Call, 'actor'>;

/** Returns a function that hides those users of an object that the reader may not read. Their number replaces them. */
function createReferrerFilter(
  state: Snapshot,
  reader: Reader,
): (users: readonly ReferrerText[]) => readonly ReferrerText[] {
  const mayRead = createKindReadCheck(state, reader);
  // A plan that an earlier release stored has the names of kinds in lower case.
  const kinds = new Map(
    state.registry.kinds.flatMap((kind) => [nounOf(kind.name), kind.name.toLowerCase()].map((word) => [word, kind])),
  );
  const isReadable = (user: ReferrerText): boolean => {
    const kind = kinds.get(kindOfReferrer(user));
    // Invites are not objects. A caller who may read users may read invites.
    return kind === undefined ? isAllowed(state, reader.actor, 'users', 'read') : mayRead(kind);
  };
  return (users) => {
    const named = users.filter((user) => omittedReferrersPattern.test(user) || isReadable(user));
    const hidden = users.length - named.length;
    if (hidden === 0) return users;
    return [...named, `${hidden} ${hidden === 1 ? 'object' : 'objects'} that you may not read`];
  };
}

/** Returns a function that removes names that the reader may not read from `usedBy`. */
export function createUsedByFilter(
  state: Snapshot,
  reader: Reader,
): <Shown extends { readonly usedBy?: readonly ReferrerText[] | undefined }>(shown: Shown) => Shown {
  const readable = createReferrerFilter(state, reader);
  return (shown) => (shown.usedBy === undefined ? shown : { ...shown, usedBy: readable(shown.usedBy) });
}

/**
 * Returns the problems as the reader may see them: messages do not name objects of a kind that the reader may not read.
 */
export function readableProblems(state: Snapshot, reader: Reader, problems: readonly Problem[]): readonly Problem[] {
  const readable = createReferrerFilter(state, reader);
  return problems.map((problem) => {
    const { usedBy, message } = problem;
    if (usedBy === undefined) return problem;
    const shown = readable(usedBy);
    if (shown === usedBy) return problem;
    const [names, counted] = [usedBy.join(', '), shown.join(', ')];
    // A truncated message does not contain all names, so it is replaced.
    const safe = message.includes(names) ? message.replace(names, () => counted) : `it is in use by ${counted}`;
    return { ...problem, message: safe, usedBy: shown };
  });
}

const noFiles: ReadonlySet<string> = new Set();

/**
 * Like `readableProblems`, without problems of objects that the reader may not read, unless they are about one of the
 * reader's own files. An additional problem reports their number.
 */
export function readableFindings(
  state: Snapshot,
  reader: Reader,
  problems: readonly Problem[],
  ownFiles: ReadonlySet<string> = noFiles,
): readonly Problem[] {
  const isReadable = createKindNameReadCheck(state, reader);
  const isHidden = ({ kind, file = '' }: Problem) => kind !== undefined && !isReadable(kind) && !ownFiles.has(file);
  const hidden = problems.filter(isHidden);
  const readable = readableProblems(
    state,
    reader,
    problems.filter((problem) => !isHidden(problem)),
  );
  return hidden.length === 0 ? readable : [...readable, noteOf(hidden)];
}

/** Returns the problem that replaces hidden ones. The code decides the status of an answer with only this problem. */
function noteOf(hidden: readonly Problem[]): Problem {
  const code = hidden.some((problem) => problem.code === 'not_allowed') ? 'not_allowed' : 'problems_hidden';
  const subject = hidden.length === 1 ? '1 problem is' : `${hidden.length} problems are`;
  const message = `${subject} about objects that you may not read; ask a user who may read and change them`;
  return { code, message };
}

const hiddenRefusalText =
  'its documents were refused because of objects that you may not read; ask a user who may read them';

const hiddenApprovalText =
  'it needs an approval and changed nothing; `heddle plans` lists its plan, with what you may read of it';

/** Texts that replace messages which may name objects, by the state to which the message belongs. */
const hiddenTexts: Partial<Readonly<Record<SourceStatus['state'], string>>> = {
  ...{ invalid: hiddenRefusalText, conflicted: hiddenRefusalText },
  needs_approval: hiddenApprovalText,
};

/**
 * Returns the status of a source as the reader may see it: reasons of refusals and of approvals do not name objects of a
 * kind that the reader may not read.
 */
export function readableStatus(state: Snapshot, reader: Reader, status: SourceStatus): SourceStatus {
  const mayRead = createKindReadCheck(state, reader);
  if (state.registry.kinds.every(mayRead)) return status;
  const { problems = [] } = status;
  const shown = readableFindings(state, reader, problems);
  const isReadable = createKindNameReadCheck(state, reader);
  const isHidden = problems.some(({ kind }) => kind !== undefined && !isReadable(kind));
  // The objects of an earlier refusal, and those of guards, are not recorded, so their messages are hidden.
  const history = status.history.map((entry) => {
    const text = hiddenTexts[entry.result];
    return text === undefined ? entry : { ...entry, message: text };
  });
  const found = { ...status, history, ...(problems.length === 0 ? {} : { problems: shown }) };
  const isWaiting = status.state === 'needs_approval';
  if (!isHidden && !isWaiting) return found;
  const message = isWaiting ? hiddenApprovalText : hiddenRefusalText;
  const conditions = status.conditions.map((condition) =>
    condition.message === status.message ? { ...condition, message } : condition,
  );
  return { ...found, conditions, message };
}
