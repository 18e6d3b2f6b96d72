import type { FastifyRequest } from 'fastify';
import { InvalidInput } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import { queryOf, timeOf } from '../config/request.ts';

/** Reads the query of a paged log and gathers what is wrong with it. */
export interface FeedQueryReader {
  text(name: string): string | undefined;
  /** A whole number within limits. */
  number(name: string, least: number, most: number): number | undefined;
  word<const Word extends string>(name: string, words: readonly Word[]): Word | undefined;
  time(name: string): Date | undefined;
  /** Throws `InvalidInput` with everything that was wrong. */
  finish(): void;
}

const longest = 1000;

/** Begins to read the query of a request. */
export function readFeedQuery(request: FastifyRequest): FeedQueryReader {
  const query = queryOf(request);
  const problems: Problem[] = [];
  const refuse = (name: string, message: string): undefined => {
    problems.push({ code: 'filter_invalid', path: `/${name}`, message });
  };
  return {
    text(name) {
      const text = query[name];
      if (text === undefined) return undefined;
      if (text.length > longest) return refuse(name, `\`${name}\` must have at most ${longest} characters`);
      return text;
    },
    number(name, least, most) {
      const text = query[name];
      if (text === undefined) return undefined;
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= least && value <= most) return value;
      return refuse(name, `\`${name}\` must be a whole number from ${least} to ${most}`);
    },
    word(name, words) {
      const text = query[name];
      if (text === undefined) return undefined;
      const found = words.find((word) => word === text);
      return found ?? refuse(name, `\`${name}\` must be one of ${words.join(', ')}`);
    },
    time(name) {
      const text = query[name];
      if (text === undefined) return undefined;
      try {
        return timeOf(name, text);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        return refuse(name, error.message);
      }
    },
    finish() {
      if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join('; '), { problems });
    },
  };
}

/** What every paged log answers around its records. */
export function envelope<Shown>(
  data: readonly Shown[],
  { page, page_size, total }: { readonly page: number; readonly page_size: number; readonly total: number },
) {
  return { data, page, page_size, total_records: total, total_pages: Math.ceil(total / page_size) };
}

/** The members that have a value. */
export function present<Value extends object>(value: Value): { [Name in keyof Value]?: NonNullable<Value[Name]> } {
  // Only members without a value are taken out.
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as ReturnType<
    typeof present<Value>
  >;
}
