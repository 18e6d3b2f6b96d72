/**
 * A small model of ownership, written from the rules and not from the code: everything is a flat map, nothing is
 * clever. Units are `note`, `level`, `cut`, `tags[t]`, `steps[s]` and `crew[p]`; the value of a member is its origins.
 */
export type Value = string | number | boolean;
export type Units = ReadonlyMap<string, Value>;

/** Content of one document. */
export interface Said {
  readonly units: Units;
  readonly exclusive: boolean;
}

export interface Thing {
  readonly units: Map<string, Value>;
  readonly declared: Map<string, Said>;
  owner: string | undefined;
  keyed: boolean;
  /** End of the override, by path of the unit. In minutes. */
  readonly held: Map<string, number>;
}

/** Things by their key. */
export type World = Map<string, Thing>;

export interface How {
  readonly mode: 'guard' | 'correct' | 'observe' | 'seed';
  readonly force: boolean;
  readonly now: number;
  /** Claims of other sources that were refused. */
  readonly claimed: readonly Refused[];
}

/** Refused claims of a source: units by `key path`, and things that the source does not state yet. */
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

/**
 * Applies the documents of a source. When they are refused, returns the refused claims and leaves the world unchanged.
 */
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
      // A thing that only has the same name is adopted only if its values stay the same.
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
    // A document that changes nothing conflicts with no claim.
    const wished = changes(thing, source, path, value, how)
      ? how.claimed.map(({ units }) => units.get(`${key} ${path}`))
      : [];
    if ([...stated, ...wished].some((other) => other !== undefined && other !== value)) found.set(path, value);
  }
  return found;
}

/** Whether a unit changes when a source states it. */
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

/**
 * Removes the declaration of a source whose document is deleted. When the source owns the thing, the thing is deleted
 * too, unless other sources state or claim it.
 */
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

/** Detaches a source from all its things. Their values stay unchanged. */
export function detach(world: World, source: string): void {
  for (const thing of world.values()) {
    if (thing.owner !== source && !thing.declared.has(source)) continue;
    detachThing(thing, source);
    // A thing that was only adopted loses its key.
    if (thing.owner === undefined && thing.declared.size === 0) thing.keyed = false;
    if (thing.owner === source) thing.owner = undefined;
  }
}

function detachThing(thing: Thing, source: string): void {
  thing.declared.delete(source);
  letBe(thing);
}

/** Gives members that no document states any more to the API, and removes overrides of units that no source states. */
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

/**
 * Replaces values as an API caller. With `until`, the caller breaks the glass. Returns whether the change is permitted.
 */
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

/** Whether the declaration of a source contradicts a new value. */
function stands({ units, exclusive }: Said, path: string, thing: Thing, after: Units): boolean {
  if (!units.has(path)) return exclusive && isMember(path) && !thing.units.has(path);
  return isMember(path) ? !originsOf(after.get(path)).includes('source') : units.get(path) !== after.get(path);
}

/** Whether an API caller may delete the thing. */
export function mayDelete(thing: Thing, modes: ReadonlyMap<string, How['mode']>): boolean {
  return [...thing.declared.keys()].every((source) => modes.get(source) === 'correct');
}

/**
 * Ends overrides that have expired. Stated values apply again, and units that no source states any more are released.
 */
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

/** Returns a thing that an API caller creates. */
export function made(units: Units): Thing {
  const all = new Map([...defaults, ...units]);
  for (const path of all.keys()) if (isMember(path)) all.set(path, 'api');
  return { units: all, declared: new Map(), owner: undefined, keyed: false, held: new Map() };
}

/** Adds a person with the origin `enrolment`, in addition to the origins that the person already has. */
export function enrol({ units }: Thing, person: string): void {
  const path = `crew[${person}]`;
  units.set(path, join([...originsOf(units.get(path)), 'enrolment']));
}
