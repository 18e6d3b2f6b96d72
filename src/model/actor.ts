/** On whose behalf a mutation happens: an argument of every engine call, recorded with every revision. */
export interface Actor {
  readonly type: 'user' | 'source' | 'system';
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  /** The role that somebody of another account has here, because that account manages this one. */
  readonly granted?: string;
}
