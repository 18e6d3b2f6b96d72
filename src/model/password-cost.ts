/** Parameters for hashing a password. They are stored with each hash, so that they can be raised later. */
export interface PasswordCost {
  /** Memory, in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** Default cost of hashing passwords. It slows down the server and an attacker alike. */
export const defaultPasswordCost: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 };
