import { Internal } from '../model/errors.ts';

/** The database was migrated by a program so new that this one must not run against it. */
export class SchemaTooNew extends Internal {}
