import type { JsonObject } from '../../../lib/json.ts';

/** A device as a product reports it. */
export interface Device {
  /** Id that the product assigned. */
  readonly id: string;
  readonly serial: string;
  readonly hostname: string;
  /** Time when the product last heard of the device, in ISO 8601. Absent when the product does not report it. */
  readonly seenAt?: string | undefined;
  /** Reasons why the device is not in order. Empty when it is in order. */
  readonly faults: readonly string[];
}

/** Names of a peer's machine, both reported by the machine itself. */
export interface MachineNames {
  readonly serial: string;
  readonly hostname: string;
}

/**
 * An endpoint security product, queried with the settings of one integration. Failures are thrown as `VendorFailure`.
 */
export interface Vendor {
  /** Yields all devices that the product knows, page by page. */
  devices(): AsyncIterable<readonly Device[]>;
  /** Returns the devices that may match a machine, without reading all devices. */
  find(machine: MachineNames): Promise<readonly Device[]>;
  /**
   * Returns the end of the credentials in ISO 8601, if the product reports it. Absent for a product that never reports
   * it.
   */
  credentialExpiry?(): Promise<string | undefined>;
}

/** The common properties of an integration, and the settings of its product with secrets opened. */
export interface Integration {
  readonly account: string;
  readonly id: string;
  /** Name of the product, for people. */
  readonly product: string;
  /** Name of the product in paths and events. */
  readonly platform: string;
  /**
   * Number of hours without news of a device after which the device is not in order any more. The same applies to the
   * product.
   */
  readonly trustedHours: number;
  /** Hash that identifies the credentials without revealing them. */
  readonly credentialBasis: string;
  readonly settings: JsonObject;
}

/** Reason why a product could not be queried. The message names its host, and never a path, a header or a secret. */
export class VendorFailure extends Error {
  /** Time that the product asks to wait, in milliseconds. */
  readonly afterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly afterMs?: number | undefined } = {}) {
    super(message, options);
    this.name = 'VendorFailure';
    this.afterMs = options.afterMs;
  }
}
