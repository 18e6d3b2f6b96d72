import type { Config, FlagValues } from '../config.ts';
import type { Terminal } from './terminal/terminal.ts';

/** One flag of a command. */
export interface Flag {
  /** Placeholder of the value in help texts. Absent: the flag is a switch. */
  readonly placeholder?: string;
  readonly multiple?: true;
  readonly doc: string;
  /** Environment variable that sets the same value. */
  readonly variable?: string;
}

/** Flags by name, without the dashes. */
export type Flags = Readonly<Record<string, Flag>>;

/** Command line, settings and terminal of one call of a command. */
export interface Invocation<K extends keyof Config = keyof Config> {
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
  /** Values of the settings that the command declares. */
  readonly config: Pick<Config, K>;
  readonly terminal: Terminal;
}

/** Arguments of a command, which are the words that are not flags. */
export interface Argument {
  readonly placeholder: string;
  readonly doc: string;
  /** Minimum number of arguments. Absent: 1. */
  readonly least?: number;
  /** Maximum number of arguments. Absent: no limit. */
  readonly most?: number;
}

/** Declaration of a command. Its help text and the checks of its command line are derived from it. */
export interface Command<K extends keyof Config = keyof Config> {
  /** Words after `heddle`, such as `token new`. */
  readonly name: string;
  readonly summary: string;
  /** Text that the help shows below the summary. */
  readonly details?: string;
  /** Arguments after the name of the command. Absent: it takes none. */
  readonly argument?: Argument;
  readonly flags: Flags;
  /** Settings that the command reads from flags and the environment. */
  readonly settings: readonly K[];
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** Runs the command and returns the exit code. */
  run(invocation: Invocation<K>): Promise<number>;
}

/** A command as the help of the program and the completion scripts list it. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly ListedFlag[];
}

/** A flag as the completion scripts list it. */
export interface ListedFlag {
  readonly name: string;
  readonly doc: string;
  /** Whether a value follows. Absent: the flag is a switch. */
  readonly takesValue?: true;
}

/** Declares a command. Its `run` receives only the settings that it lists. */
export function defineCommand<const K extends keyof Config>(command: Command<K>): Command {
  return command;
}
