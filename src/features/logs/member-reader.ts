import { isObject, type Json, type JsonObject } from '../../lib/json.ts';

/** Reads the members of a reported value, and collects the faults in them. */
export interface MemberReader {
  readonly faults: readonly string[];
  /** Returns a string of at most `longest` characters, empty when it is absent. */
  text(name: string, longest: number): string;
  /** Returns a string that must be present and not empty. */
  requiredText(name: string, longest: number): string;
  /** Returns an integer of at least 0, and 0 when it is absent. */
  count(name: string, most?: number): number;
  /** Returns one of the words, and the first one when it is absent. */
  oneOf<const Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word;
  /** Returns a time, in milliseconds since 1970. */
  time(name: string): number;
  /** Returns a map of strings, `undefined` when it is absent. */
  textMap(name: string): Readonly<Record<string, string>> | undefined;
  /** Returns a list of at most `most` items, empty when it is absent. */
  list(name: string, most: number): readonly Json[];
  /** Adds a fault. */
  addFault(fault: string): void;
}

/** A time in the format of RFC 3339, with its time zone. */
const timePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
const maxEntries = 20;

/** Creates a reader for a value that should be an object. */
export function createMemberReader(value: unknown): MemberReader {
  const object: JsonObject = isObject(value) ? (value as JsonObject) : {};
  const faults: string[] = isObject(value) ? [] : ['must be an object'];
  const refuse = (fault: string): void => void faults.push(fault);
  const members: MemberReader = {
    faults,
    addFault: refuse,
    text(name, longest) {
      const text = object[name] ?? '';
      if (typeof text !== 'string') refuse(`\`${name}\` must be a text`);
      else if (text.length > longest) refuse(`\`${name}\` must have at most ${longest} characters`);
      else return text;
      return '';
    },
    requiredText(name, longest) {
      const before = faults.length;
      const text = members.text(name, longest);
      if (text === '' && faults.length === before) refuse(`\`${name}\` is required`);
      return text;
    },
    count(name, most = Number.MAX_SAFE_INTEGER) {
      const value = object[name] ?? 0;
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
      refuse(`\`${name}\` must be a whole number from 0${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}`);
      return 0;
    },
    oneOf(name, words) {
      const value = object[name] ?? words[0];
      const found = words.find((word) => word === value);
      if (found === undefined) refuse(`\`${name}\` must be one of ${words.filter((word) => word !== '').join(', ')}`);
      return found ?? words[0];
    },
    time(name) {
      const text = object[name];
      const time = typeof text === 'string' && timePattern.test(text) ? Date.parse(text) : Number.NaN;
      if (Number.isNaN(time)) refuse(`\`${name}\` must be a time such as 2026-03-01T10:00:00Z`);
      return Number.isNaN(time) ? 0 : time;
    },
    list(name, most) {
      const value = object[name] ?? [];
      if (Array.isArray(value) && value.length <= most) return value;
      refuse(`\`${name}\` must be a list of at most ${most} items`);
      return [];
    },
    textMap(name) {
      const value = object[name];
      if (value === undefined || value === null) return undefined;
      const entries = isObject(value) ? Object.entries(value) : [];
      const isSound = isObject(value) && entries.length <= maxEntries && entries.every(isShortText);
      if (!isSound)
        refuse(`\`${name}\` must be an object of at most ${maxEntries} texts, each of at most 1024 characters`);
      return isSound ? (value as Readonly<Record<string, string>>) : undefined;
    },
  };
  return members;
}

function isShortText([name, value]: readonly [string, unknown]): boolean {
  return name.length <= 100 && typeof value === 'string' && value.length <= 1024;
}

/** Maximum time that the clock of a reporter may be ahead, in milliseconds. */
const maxClockSkewMs = 10 * 60_000;

/** Time span from which records are accepted: the retention, and a few minutes in the future. */
export interface AcceptedTimes {
  readonly now: number;
  readonly keptMs: number;
}

/** Adds a fault when a time is outside of the span from which records are accepted. */
export function checkTime(members: MemberReader, name: string, time: number, { now, keptMs }: AcceptedTimes): void {
  if (members.faults.length > 0) return;
  if (time > now + maxClockSkewMs)
    members.addFault(`\`${name}\` is more than 10 minutes in the future; set the clock of the reporter`);
  if (time < now - keptMs) members.addFault(`\`${name}\` is older than the period for which records are kept`);
}
