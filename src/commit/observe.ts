import type { UnreadableSecret } from '../db/sealing/unreadable.ts';

/** A source of any account. */
export interface ObservedSource {
  readonly account: string;
  readonly source: string;
}

/** What happens inside the server and is worth measuring. */
export type Observation =
  /** A source was reconciled, or could not be; `result` is the word of its state. */
  | (ObservedSource & { readonly what: 'reconcile'; readonly result: string; readonly seconds: number })
  /** What a source states is in place: at this moment, with so many units that differ all the same. */
  | (ObservedSource & { readonly what: 'in_place'; readonly drift: number })
  /** A guard stopped a plan. */
  | { readonly what: 'guard'; readonly guard: string }
  /** A commit waited for others of its account. */
  | { readonly what: 'lock_wait'; readonly seconds: number }
  /** Another host was asked for something, or could not be. */
  | { readonly what: 'outbound'; readonly purpose: string; readonly outcome: string; readonly seconds: number }
  /** Events were sent to a receiver, or could not be; `type` is that of the receiver. */
  | {
      readonly what: 'delivery';
      readonly type: string;
      readonly outcome: string;
      readonly events: number;
      readonly seconds: number;
    }
  /** How many channels of this database fail, as far as this server sees it. */
  | { readonly what: 'delivery_backlog'; readonly failing: number; readonly behind: number }
  /** A directory was synced, or could not be. */
  | { readonly what: 'directory_sync'; readonly outcome: string; readonly seconds: number }
  /** How many directories of this database cannot be synced, as far as this server sees it. */
  | { readonly what: 'directory_syncs_failing'; readonly failing: number }
  /** The product of an endpoint-security integration was asked about all its devices, or could not be. */
  | {
      readonly what: 'endpoint_sync';
      readonly product: string;
      readonly outcome: 'synced' | 'failed' | 'held';
      readonly devices: number;
      readonly seconds: number;
    }
  /** How many integrations of this database fail, as far as this server sees it. */
  | { readonly what: 'endpoint_syncs_failing'; readonly failing: number }
  /** The records of a custom domain were looked up. */
  | { readonly what: 'proxy_domain_check'; readonly outcome: 'proved' | 'absent' | 'unknown' }
  /** How many custom domains of this database are not validated. */
  | { readonly what: 'proxy_domains_unvalidated'; readonly domains: number }
  /** Audit events were deleted because of their age. */
  | { readonly what: 'audit_deleted'; readonly events: number }
  /** An ingress peer went offline, or is online again. */
  | { readonly what: 'ingress_peer'; readonly state: 'offline' | 'online' }
  /** An identity provider sent a request by SCIM about users, groups or something else; `status` is that of the answer. */
  | { readonly what: 'scim'; readonly resource: string; readonly method: string; readonly status: number }
  /** A stored secret does not open, and stays as it is when the others are sealed again. */
  | { readonly what: 'unreadable'; readonly secret: UnreadableSecret }
  /** A source that reconciles again and again was stopped, or goes on. */
  | (ObservedSource & { readonly what: 'breaker'; readonly open: boolean })
  /** This server does not run a source any more: how it fares is for another one to say. */
  | (ObservedSource & { readonly what: 'left' });

/** Passes observations to listeners, such as metrics. */
export interface Observer {
  report(observation: Observation): void;
  /** Calls the listener with every observation from now on. Returns a function that removes it. */
  on(listener: (observation: Observation) => void): () => void;
}

/** Creates an observer without listeners. */
export function createObserver(): Observer {
  const listeners = new Set<(observation: Observation) => void>();
  return {
    report(observation) {
      for (const listener of listeners) listener(observation);
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
