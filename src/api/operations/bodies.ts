import type { FastifyInstance } from 'fastify';
import type { Operation } from '../../model/operation/operation.ts';
import { textOfBody } from '../input/bodies.ts';

/** Whether an operation takes bodies that others do not take. */
export function hasOwnBodies({ textBody, bytesBody }: Operation): boolean {
  return textBody !== undefined || bytesBody !== undefined;
}

/** Has a scope take the bodies of an operation, beside those of JSON. */
export function takeBodies(scope: FastifyInstance, { textBody, bytesBody }: Operation): void {
  if (textBody !== undefined)
    scope.addContentTypeParser([...textBody.types], { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
      textBody.as(textOfBody(body)),
    );
  if (bytesBody === undefined) return;
  // What is taken of any type is not read as JSON either.
  if (bytesBody.types.includes('*')) scope.removeAllContentTypeParsers();
  scope.addContentTypeParser([...bytesBody.types], { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
