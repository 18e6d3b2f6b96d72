import type { Registry } from '../../model/declare/registry.ts';
import { NotFound } from '../../model/errors.ts';
import { anyDocumentSchema, editorSchema } from '../../model/lower/editor.ts';
import { schemas as operations } from '../../operations/schemas.ts';
import { type Answer, makeAnswer, sendAnswer } from '../answers/answers.ts';
import { implement } from '../operations/implement.ts';

/** JSON Schemas of documents, which editors and pipelines may load from the server. */
export const schemas = implement(operations, ({ registry }) => {
  const made = new Map<string, Answer>();
  return {
    read({ params: { kind }, request, reply }) {
      const answer = made.get(kind) ?? makeAnswer({ version: 0, body: schemaOf(registry, kind) });
      made.set(kind, answer);
      return sendAnswer(request, reply, answer);
    },
  };
});

function schemaOf(registry: Registry, name: string) {
  if (name === 'all') return anyDocumentSchema(registry);
  const kind = registry.find(name);
  if (kind === undefined || !kind.document.allowed) throw new NotFound(`schema of documents of kind ${name} not found`);
  return editorSchema(registry, kind);
}
