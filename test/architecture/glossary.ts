import { stringOrComment } from './imports.ts';

/** Words that are retired from names, in lower case, and what the code says instead. */
export const retired: Readonly<Record<string, string>> = {
  anew: 'recreated, parsed: whichever happens',
  attendance: 'ConnectionTracker',
  beside: 'extra, other, companion',
  besides: 'extra, other',
  birth: 'generated values',
  born: 'generated values',
  carried: 'incremental state, or what is done with it: reuse, update',
  circumstances: 'what it holds: PeerFacts, ApplyOptions',
  consequence: 'derived change',
  consequences: 'derived changes',
  courteous: 'what it does: unlessAway',
  deed: 'Mutation',
  deeds: 'mutations',
  desire: 'ApplyRequest',
  desires: 'apply requests',
  desk: 'buffer',
  doubtful: 'in doubt',
  fate: 'outcome',
  fates: 'outcomes',
  gates: 'guarded routes',
  gripped: 'overlapping',
  grips: 'overlaps',
  guest: 'temporary peer',
  guests: 'temporary peers',
  half: 'direction',
  halves: 'directions',
  hands: 'origins',
  hindrance: 'inactive',
  lens: 'projection',
  likeness: 'peer class',
  lookout: 'ReadScheduler',
  manner: 'options',
  means: 'PlanEnvironment',
  most_at_the_door: 'listenBacklog',
  newcomer: 'EnrolmentRequest, or who it is: UnknownPerson',
  news: 'AccountWatch, message, events',
  nobody: 'what is empty: noListener, noPeers',
  open_glass: 'startBreakGlass',
  parties: 'access endpoints',
  party: 'AccessEndpoint',
  play_stage: 'diffDocuments',
  regated: 'routeReceiversChanged',
  restless: 'changing',
  shelf: 'cache',
  shifts: 'deltas',
  somebody: 'person, user, visitor',
  spoken: 'flows',
  sponsor: 'Authorizer',
  stirred: 'changed',
  strange: 'unexpected, malformed, foreign',
  stranger: 'outsider',
  strangers: 'anonymous callers, outsiders',
  stretches: 'hour ranges',
  stuck: 'PostponedChanges',
  surroundings: 'what it holds: RouteDeps',
  sweeping: 'deny-all',
  tally: 'VerdictCounts',
  tell: 'what happens: report, publish, send, print',
  telling: 'what happens: report, publish, send, print',
  told: 'what it is: AuditEntry, FlowRule, SentMap, reported',
  twins: 'duplicates',
  voice: 'FlowSets',
  wanted: 'what it is: requested, stated, selected, expected',
  wanter: 'claimant, or who refreshes claims: ClaimRefresher',
  welcome: 'Session',
  wish: 'body or request',
  wishes: 'bodies or requests',
};

/** One use of a retired word. */
export interface RetiredUse {
  readonly index: number;
  readonly name: string;
  readonly word: string;
}

/** Words that are retired from prose: comments, texts for users, titles of tests, and pages. */
export const retiredProse: Readonly<Record<string, string>> = {
  deed: 'change, mutation',
  deeds: 'changes, mutations',
  newcomer: 'new user, machine that enrols',
  newcomers: 'new users, machines that enrol',
  told: 'reported, sent, shown, notified, called with',
  whoever: 'who it is: the caller, the operator, the server, the source',
};

/**
 * Finds the names of a file that hold a retired word; what strings and comments say is prose, see `findRetiredProse`.
 */
export function findRetired(source: string): readonly RetiredUse[] {
  const names = [...blankProse(source).matchAll(/[A-Za-z_$][\w$]*/g)];
  return names.flatMap(({ 0: name, index }) => retiredIn(name).map((word) => ({ index, name, word })));
}

/**
 * Finds retired words in prose: in strings and comments of a program, in titles and comments of tests, or in all of a
 * page.
 */
export function findRetiredProse(text: string, what: 'program' | 'tests' | 'page'): readonly RetiredUse[] {
  const words = new RegExp(`\\b(?:${Object.keys(retiredProse).join('|')})\\b`, 'gi');
  return proseOf(text, what).flatMap(({ 0: part, index }) =>
    [...part.matchAll(words)].map((match): RetiredUse => {
      const name = part.slice(Math.max(0, match.index - 30), match.index + 30).replace(/\s+/g, ' ');
      return { index: index + match.index, name, word: match[0].toLowerCase() };
    }),
  );
}

function proseOf(
  text: string,
  what: 'program' | 'tests' | 'page',
): readonly { readonly 0: string; readonly index: number }[] {
  if (what === 'page') return [{ 0: text, index: 0 }];
  const parts = [...text.matchAll(stringOrComment)];
  if (what === 'program') return parts;
  // Strings of tests are data, but for titles.
  return parts.filter(
    ({ 0: part, index }) => part.startsWith('/') || titleBegins.test(text.slice(Math.max(0, index - 100), index)),
  );
}

const titleBegins = /(?:\b(?:test|it|describe)(?:\.\w+)*|\))\(\s*$/;

/** The retired words of names. Files repeat the same names, so each is examined once. */
const examined = new Map<string, readonly string[]>();

/** The retired words of a name, also of a path: `noteHands`, `src/plan/note-hands.ts`. */
export function retiredIn(name: string): readonly string[] {
  const known = examined.get(name) ?? examine(name);
  examined.set(name, known);
  return known;
}

function examine(name: string): readonly string[] {
  const words = name
    .replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2_')
    .replace(/[^A-Za-z\d]+/g, '_')
    .toLowerCase();
  return Object.keys(retired).filter((word) => `_${words}_`.includes(`_${word}_`));
}

const pattern = /(?<=[(,=:[!&|?]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/g;

/** Replaces strings, comments and regular expressions by spaces, but for the expressions in templates. */
function blankProse(text: string): string {
  const programOnly = text.replace(stringOrComment, (part) => {
    const kept = part.startsWith('`') ? /\$\{[^{}`]*\}|[^\n]/g : /[^\n]/g;
    return part.replace(kept, (piece) => (piece.startsWith('${') ? piece : ' '));
  });
  return programOnly.replace(pattern, (part) => ' '.repeat(part.length));
}
