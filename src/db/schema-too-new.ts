import { Internal } from '../model/errors.ts';

/** Thrown when a newer program migrated the database, so that this program must not run against it. */
export class SchemaTooNew extends Internal {}
