/**
 * A small model of who owns what, written from the rules and not from the code: everything is a flat map, nothing is
 * clever. Units are `note`, `level`, `cut`, `tags[t]`, `steps[s]` and `crew[p]`; of a member the value is its origins.
 */
export type Value = string | number | boolean;
export type Units = ReadonlyMap<string, Value>;

/** What one document says. */
export interface Said {
  readonly units: Units;
  readonly exclusive: boolean;
}

export interface Thing {
  readonly units: Map<string, Value>;
  readonly declared: Map<string, Said>;
  owner: string | undefined;
  keyed: boolean;
  /** Path to the moment at which the override ends. */
  readonly held: Map<string, number>;
}

/** Things by key. */
export type World = Map<string, Thing>;

export interface How {
  readonly mode: 'guard' | 'correct' | 'observe' | 'seed';
  readonly force: boolean;
  readonly now: number;
  /** What other sources want and could not have. */
  readonly claimed: readonly Refused[];
}

/** What a source wants and could not have: units by `key path`, and things that it does not state yet. */
export interface Refused {
  readonly units: ReadonlyMap<string, Value>;
  readonly things: ReadonlySet<string>;
}

const defaults: Units = new Map<string, Value>([
  ['note', ''],
  ['level', 0],
  ['cut', false],
]);

const isMember = (path: string) => path.startsWith('crew[');
const originsOf = (value: Value | undefined) => (value === undefined ? [] : String(value).split(','));
const join = (origins: Iterable<string>) => [...new Set(origins)].sort().join(',');

function copyOf(world: World): World {
  return new Map([...world].map(([key, thing]) => [key, copyThing(thing)]));
}

function copyThing(thing: Thing): Thing {
  return { ...thing, units: new Map(thing.units), declared: new Map(thing.declared), held: new Map(thing.held) };
}

/** Applies the documents of a source, or answers what stood in the way and leaves the world as it is. */
export function apply(
  world: World,
  source: string,
  documents: ReadonlyMap<string, Said>,
  how: How,
): Refused | undefined {
  const next = copyOf(world);
  const refused = new Map<string, Value>();
  let isBlocked = false;
  for (const [key, said] of documents) {
    let thing = next.get(key);
    const isAdopted = thing !== undefined && !thing.keyed;
    if (thing === undefined) {
      for (const [path, value] of contradictions(undefined, key, source, said, how))
        refused.set(`${key} ${path}`, value);
      next.set(key, create(source, said, how));
    } else {
      if (thing.owner === undefined && thing.declared.size === 0 && thing.keyed) thing.owner = source;
      thing.keyed = true;
      const before = copyThing(thing);
      for (const [path, value] of contradictions(thing, key, source, said, how)) refused.set(`${key} ${path}`, value);
      thing = next.get(key) as Thing;
      restate(thing, key, source, said, how);
      // What has the name by chance is only taken as it is.
      if (isAdopted) isBlocked ||= !sameValues(before, thing);
    }
  }
  const things = [...documents.keys()].filter((key) => world.get(key)?.declared.has(source) === false);
  if (refused.size > 0 || isBlocked) return { units: refused, things: new Set(things) };
  for (const [key, thing] of next) {
    const isMine = thing.owner === source || thing.declared.has(source);
    if (isMine && !documents.has(key)) drop(next, key, source, how);
  }
  world.clear();
  for (const [key, thing] of next) world.set(key, thing);
  return undefined;
}

function create(source: string, said: Said, { mode }: How): Thing {
  const isSeed = mode === 'seed';
  const units = new Map([...defaults, ...said.units]);
  for (const path of units.keys()) if (isMember(path)) units.set(path, isSeed ? 'api' : 'source');
  return {
    ...{ units, owner: source, keyed: true, held: new Map() },
    declared: new Map([[source, isSeed ? { units: new Map(), exclusive: false } : said]]),
  };
}

function contradictions(thing: Thing | undefined, key: string, source: string, said: Said, how: How): Units {
  const found = new Map<string, Value>();
  if (how.force || how.mode === 'seed') return found;
  for (const [path, value] of said.units) {
    const stated = [...(thing?.declared ?? [])]
      .filter(([other]) => other !== source)
      .map(([, one]) => one.units.get(path));
    // What changes nothing is in nobody's way.
    const wished = changes(thing, source, path, value, how)
      ? how.claimed.map(({ units }) => units.get(`${key} ${path}`))
      : [];
    if ([...stated, ...wished].some((other) => other !== undefined && other !== value)) found.set(path, value);
  }
  return found;
}

/** Whether a unit is another one after a source states it. */
function changes(thing: Thing | undefined, source: string, path: string, value: Value, how: How): boolean {
  if (thing === undefined) return true;
  const current = thing.units.get(path);
  if ((thing.held.get(path) ?? 0) > how.now) return false;
  if (how.mode === 'observe' && thing.declared.get(source)?.units.get(path) === value) return false;
  if (path === 'cut' && current === true) return false;
  return isMember(path) ? !originsOf(current).includes('source') : current !== value;
}

function restate(thing: Thing, key: string, source: string, said: Said, how: How): void {
  const mine = thing.declared.get(source);
  const others = [...thing.declared].filter(([other]) => other !== source);
  if (how.mode === 'seed') {
    thing.declared.set(source, { units: new Map(), exclusive: false });
    letBe(thing);
    return;
  }
  const elsewhere = (path: string) => others.some(([, one]) => one.units.has(path));
  const isWished = (unit: string) => how.claimed.some(({ units }) => units.has(unit));
  const isHeld = (path: string) => (thing.held.get(path) ?? 0) > how.now;
  const isMine = (path: string) => said.units.has(path) || mine?.units.has(path) === true;
  for (const path of mine?.units.keys() ?? [])
    if (!said.units.has(path) && !elsewhere(path) && !isWished(`${key} ${path}`) && !isHeld(path)) release(thing, path);
  for (const [path, value] of said.units) {
    const isKept = how.mode === 'observe' && mine?.units.get(path) === value;
    const isCut = path === 'cut' && thing.units.get(path) === true;
    if (!isHeld(path) && !isKept && !isCut) put(thing, path, value);
  }
  const isObserved = how.mode === 'observe' && mine?.exclusive === true && sameCrew(mine, said);
  for (const path of [...thing.units.keys()])
    if (said.exclusive && isMember(path) && !said.units.has(path) && !elsewhere(path) && !isHeld(path) && !isObserved)
      thing.units.delete(path);
  for (const [path, until] of [...thing.held])
    if (until <= how.now && (isMine(path) || (said.exclusive && isMember(path)))) thing.held.delete(path);
  for (const [other, one] of others) {
    const left = [...one.units].filter(([path, value]) => (said.units.get(path) ?? value) === value);
    thing.declared.set(other, { ...one, units: new Map(left) });
  }
  thing.declared.set(source, said);
}

function put(thing: Thing, path: string, value: Value): void {
  thing.units.set(path, isMember(path) ? join([...originsOf(thing.units.get(path)), 'source']) : value);
}

function release(thing: Thing, path: string): void {
  if (isMember(path)) {
    const origins = originsOf(thing.units.get(path)).filter((origin) => origin !== 'source');
    if (origins.length > 0) thing.units.set(path, join(origins));
    else thing.units.delete(path);
  } else if (path !== 'cut' || thing.units.get(path) !== true) {
    const value = defaults.get(path);
    if (value === undefined) thing.units.delete(path);
    else thing.units.set(path, value);
  }
}

/** A document is gone: its object goes with the owner's, unless others state it, or want to. */
function drop(world: World, key: string, source: string, how: How): void {
  const thing = world.get(key) as Thing;
  const others = [...thing.declared.keys()].filter((other) => other !== source).sort();
  const isExpected = how.claimed.some(
    ({ units, things }) => things.has(key) || [...units.keys()].some((unit) => unit.startsWith(`${key} `)),
  );
  const isMine = thing.owner === source && others.length === 0;
  if (isMine && !isExpected) {
    world.delete(key);
    return;
  }
  if (others.length > 0) {
    restate(thing, key, source, { units: new Map(), exclusive: false }, { ...how, mode: 'guard', claimed: [] });
    thing.declared.delete(source);
  } else detachThing(thing, source);
  if (thing.owner === source) thing.owner = others[0];
  if (thing.owner === undefined && others.length === 0 && !isMine) thing.keyed = false;
}

/** A source lets go of everything; all stays as it is. */
export function detach(world: World, source: string): void {
  for (const thing of world.values()) {
    if (thing.owner !== source && !thing.declared.has(source)) continue;
    detachThing(thing, source);
    // What was only taken over belongs to nobody's documents again.
    if (thing.owner === undefined && thing.declared.size === 0) thing.keyed = false;
    if (thing.owner === source) thing.owner = undefined;
  }
}

function detachThing(thing: Thing, source: string): void {
  thing.declared.delete(source);
  letBe(thing);
}

/** Members whom no document names any more are the API's, and overrides of what nobody states are nothing. */
function letBe(thing: Thing): void {
  const declared = [...thing.declared.values()];
  const isStated = (path: string) => declared.some((one) => one.units.has(path));
  for (const [path, value] of [...thing.units]) {
    if (!isMember(path) || isStated(path)) continue;
    const origins = originsOf(value).filter((origin) => origin !== 'source');
    thing.units.set(path, origins.length === 0 ? 'api' : join(origins));
  }
  const isClosed = declared.some(({ exclusive }) => exclusive);
  for (const path of [...thing.held.keys()])
    if (!isStated(path) && !(isClosed && isMember(path))) thing.held.delete(path);
}

/** Replaces values as a caller of the API, who may break the glass; answers whether that was allowed. */
export function replace(
  thing: Thing,
  change: ReadonlyMap<string, Value | undefined>,
  modes: ReadonlyMap<string, How['mode']>,
  until?: { readonly now: number; readonly end: number },
): boolean {
  const after = new Map(thing.units);
  for (const [path, value] of change) {
    if (value === undefined) after.delete(path);
    else if (!isMember(path)) after.set(path, value);
    else if (!after.has(path)) after.set(path, 'api');
  }
  const changed = [...new Set([...thing.units.keys(), ...after.keys()])].filter(
    (path) => thing.units.get(path) !== after.get(path),
  );
  const against = (path: string) => [...thing.declared].filter(([, said]) => stands(said, path, thing, after));
  const held = changed.filter((path) => !(path === 'cut' && after.get(path) === true) && against(path).length > 0);
  const isRefused = held.some((path) => against(path).some(([source]) => modes.get(source) === 'guard'));
  if (isRefused && until === undefined) return false;
  for (const path of changed) thing.held.delete(path);
  if (until !== undefined) {
    for (const [path, end] of thing.held) if (end > until.now) thing.held.set(path, until.end);
    for (const path of held) thing.held.set(path, until.end);
  }
  thing.units.clear();
  for (const [path, value] of after) thing.units.set(path, value);
  return true;
}

/** Whether what a source says stands against a new value. */
function stands({ units, exclusive }: Said, path: string, thing: Thing, after: Units): boolean {
  if (!units.has(path)) return exclusive && isMember(path) && !thing.units.has(path);
  return isMember(path) ? !originsOf(after.get(path)).includes('source') : units.get(path) !== after.get(path);
}

/** Whether a caller of the API may delete the thing. */
export function mayDelete(thing: Thing, modes: ReadonlyMap<string, How['mode']>): boolean {
  return [...thing.declared.keys()].every((source) => modes.get(source) === 'correct');
}

/** Ends what is over: what is stated applies again, what nobody states any more is released. */
export function expire(world: World, now: number): void {
  for (const thing of world.values()) {
    for (const [path, until] of [...thing.held]) {
      if (until > now) continue;
      thing.held.delete(path);
      const stated = [...thing.declared.values()]
        .map((said) => said.units.get(path))
        .find((value) => value !== undefined);
      const isClosed = [...thing.declared.values()].some(({ exclusive }) => exclusive);
      const isCut = path === 'cut' && thing.units.get(path) === true;
      if (stated !== undefined && !isCut) put(thing, path, stated);
      else if (stated === undefined && !isMember(path)) release(thing, path);
      else if (stated === undefined && isClosed) thing.units.delete(path);
    }
  }
}

function sameCrew(a: Said, b: Said): boolean {
  const crew = ({ units }: Said) => [...units.keys()].filter(isMember).sort().join();
  return crew(a) === crew(b);
}

function sameValues(a: Thing, b: Thing): boolean {
  const paths = new Set([...a.units.keys(), ...b.units.keys()]);
  return [...paths].every(
    (path) => a.units.get(path) === b.units.get(path) || (isMember(path) && a.units.has(path) && b.units.has(path)),
  );
}

/** A thing that a caller of the API made. */
export function made(units: Units): Thing {
  const all = new Map([...defaults, ...units]);
  for (const path of all.keys()) if (isMember(path)) all.set(path, 'api');
  return { units: all, declared: new Map(), owner: undefined, keyed: false, held: new Map() };
}

/** A person joins by enrolment, even if other origins put them there before. */
export function enrol({ units }: Thing, person: string): void {
  const path = `crew[${person}]`;
  units.set(path, join([...originsOf(units.get(path)), 'enrolment']));
}
