import type { Config, FlagValues } from '../config.ts';
import type { Terminal } from './terminal/terminal.ts';

/** One flag of a command. */
export interface Flag {
  /** The placeholder of the value in help texts; a flag without one is a switch. */
  readonly placeholder?: string;
  readonly multiple?: true;
  readonly doc: string;
  /** The variable that says the same. */
  readonly variable?: string;
}

/** Flags by name, without the dashes. */
export type Flags = Readonly<Record<string, Flag>>;

/** What one call of a command was given. */
export interface Invocation<K extends keyof Config = keyof Config> {
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
  /** The settings that the command declares. */
  readonly config: Pick<Config, K>;
  readonly terminal: Terminal;
}

/** The words of a command line that are no flags. */
export interface Argument {
  readonly placeholder: string;
  readonly doc: string;
  /** How many there are at least; one unless said otherwise. */
  readonly least?: number;
  /** How many there are at most; any number unless said otherwise. */
  readonly most?: number;
}

/** A command as its file declares it: the help text and the checks of the command line are made from this. */
export interface Command<K extends keyof Config = keyof Config> {
  /** Words after `heddle`, such as `token new`. */
  readonly name: string;
  readonly summary: string;
  /** Shown below the summary. */
  readonly details?: string;
  /** What comes after the flags; absent: nothing. */
  readonly argument?: Argument;
  readonly flags: Flags;
  /** Settings that the command reads from flags and the environment. */
  readonly settings: readonly K[];
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** Does it and returns the exit code. */
  run(invocation: Invocation<K>): Promise<number>;
}

/** Declares a command. It sees only the settings that it names. */
export function defineCommand<const K extends keyof Config>(command: Command<K>): Command {
  return command;
}
