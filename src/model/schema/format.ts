import type { ProblemCode } from '../problem-codes.ts';

/** Name of a format. A text that does not match the format is reported as `<name>_invalid`. */
export type FormatName = NameIn<ProblemCode>;

type NameIn<Code> = Code extends `${infer Name}_invalid` ? Name : never;

/** A scalar text format with one canonical spelling, such as a CIDR or a domain. */
export interface Format {
  readonly name: FormatName;
  /** Name of the format in JSON Schema. Absent when JSON Schema has none. */
  readonly jsonFormat?: 'date-time';
  /**
   * Regular expression that every text of the format matches from start to end, in the syntax that RE2 and JavaScript
   * share.
   */
  readonly pattern?: string;
  /** Returns the canonical spelling, or a message that explains the fault and how to correct it. */
  canonical(text: string): { readonly value: string } | { readonly fault: string };
  /**
   * Whether answers show the text in the spelling in which it was written. Otherwise they show the canonical one,
   * because clients expect that. Absent: always.
   */
  keepsSpelling?(text: string): boolean;
}
