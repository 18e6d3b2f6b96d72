import type Provider from 'oidc-provider';
import type { Engine } from '../../../commit/engine.ts';
import type { SignInLimits } from '../sign-in-limits.ts';
import type { KeyRing } from './keys.ts';
import type { Person } from './people.ts';
import type { RecordsOptions } from './records.ts';

/** What the pages of a sign-in work with. */
export interface Host {
  readonly engine: Engine;
  readonly guesses: SignInLimits;
  readonly records: RecordsOptions;
  /** Milliseconds since 1970. */
  now(): number;
  /** The provider with the keys of this moment. */
  open(): Promise<{ readonly provider: Provider; readonly ring: KeyRing }>;
  find(id: string): Promise<Person | undefined>;
  publicUrl(): string;
  /** Ends what hangs on a person's sign-ins, but for the session with a certain uid. */
  endSessions(user: string, keepUid?: string): Promise<void>;
}
