/** What the work of hashing a password depends on; it stands in the stored text, so that it can grow. */
export interface PasswordCost {
  /** In KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** The cost of the passwords of a server, for the server and for an attacker alike. */
export const usualPasswordCost: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 };
