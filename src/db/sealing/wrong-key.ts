import { Unavailable } from '../../model/errors.ts';

/**
 * Thrown when the key of this server is not the key of the installation. Sealed secrets cannot be opened, and nothing
 * may be sealed with this key.
 */
export class WrongKey extends Unavailable {}
