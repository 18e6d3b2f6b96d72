import type { JsonObject } from '../../../lib/json.ts';

/** A device as a product knows it. */
export interface Device {
  /** The product's own. */
  readonly id: string;
  readonly serial: string;
  readonly hostname: string;
  /** When the product last heard of it, ISO 8601; absent when it does not say. */
  readonly seenAt?: string | undefined;
  /** What keeps it from being in order; empty when it is. */
  readonly faults: readonly string[];
}

/** By what a peer says that it is: both are reported by the machine itself. */
export interface MachineNames {
  readonly serial: string;
  readonly hostname: string;
}

/** A product of endpoint security, asked with the settings of one integration. What goes wrong is thrown as `VendorFailure`. */
export interface Vendor {
  /** All devices that it knows, page by page. */
  devices(): AsyncIterable<readonly Device[]>;
  /** The devices that may be one machine, without reading all of them. */
  find(machine: MachineNames): Promise<readonly Device[]>;
  /** When its credentials end (ISO 8601), if it says so. Absent: it says nothing of that. */
  credentialEnd?(): Promise<string | undefined>;
}

/** What all integrations say, and the settings of their products with secrets opened. */
export interface Integration {
  readonly account: string;
  readonly id: string;
  /** What people call the product. */
  readonly product: string;
  /** Its name in paths and events. */
  readonly platform: string;
  /** After so many hours without news of a device, or of the product, it is not in order any more. */
  readonly trustedHours: number;
  /** Stands for the credentials, of which it tells nothing. */
  readonly credentialBasis: string;
  readonly settings: JsonObject;
}

/** Why a product could not be asked. The message names its host, and never a path, a header or a secret. */
export class VendorFailure extends Error {
  /** In milliseconds: it asks to be left alone for so long. */
  readonly afterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly afterMs?: number | undefined } = {}) {
    super(message, options);
    this.name = 'VendorFailure';
    this.afterMs = options.afterMs;
  }
}
