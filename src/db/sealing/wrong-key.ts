import { Unavailable } from '../../model/errors.ts';

/** The key of this server is not the one of the installation: what is sealed stays shut, and nothing may be sealed with it. */
export class WrongKey extends Unavailable {}
