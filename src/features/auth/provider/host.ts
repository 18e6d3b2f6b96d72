import type Provider from 'oidc-provider';
import type { Engine } from '../../../commit/engine.ts';
import type { SignInLimits } from '../sign-in-limits.ts';
import type { KeyRing } from './keys.ts';
import type { Person } from './people.ts';
import type { RecordsOptions } from './records.ts';

/** The parts of the server that the sign-in pages use. */
export interface ProviderContext {
  readonly engine: Engine;
  readonly signInLimits: SignInLimits;
  readonly records: RecordsOptions;
  /** Milliseconds since 1970. */
  now(): number;
  /** Returns the provider with the current keys. */
  openProvider(): Promise<{ readonly provider: Provider; readonly ring: KeyRing }>;
  findPerson(id: string): Promise<Person | undefined>;
  publicUrl(): string;
  /** Ends the sessions of a person and everything that depends on them, except the session with the uid `keepUid`. */
  endSessions(user: string, keepUid?: string): Promise<void>;
}
