import type { JsonObject } from '../../src/lib/json.ts';

/** An operation as an OpenAPI document describes it. */
export interface Described {
  /** Method in capital letters and path. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
  /** The successful response. */
  readonly answer: {
    readonly status: number;
    /** Content by media type. Absent when the body is empty. */
    readonly content?: JsonObject;
    readonly headers: readonly string[];
  };
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * Paths of the specification whose parameter has another name in the OpenAPI document, because OpenAPI forbids paths
 * that differ only in parameter names.
 */
const specified: Readonly<Record<string, string>> = {
  'get /api/users/invites/{inviteId}': '/api/users/invites/{token}',
};

/** Returns every operation of an OpenAPI document. */
export function operationsOf(document: JsonObject): readonly Described[] {
  return Object.entries(document['paths'] as Readonly<Record<string, JsonObject>>).flatMap(([template, item]) =>
    methods
      .filter((method) => method in item)
      .map((method) => {
        const operation = item[method] as JsonObject;
        const path = specified[`${method} ${template}`] ?? template;
        return { name: `${method.toUpperCase()} ${path}`, method, path, operation, answer: answerOf(operation) };
      }),
  );
}

function answerOf({ responses }: JsonObject): Described['answer'] {
  const [status = '', found] = Object.entries(responses as JsonObject).find(([code]) => code.startsWith('2')) ?? [];
  const { content, headers } = (found ?? {}) as JsonObject;
  return {
    status: Number(status),
    ...(content === undefined ? {} : { content: content as JsonObject }),
    headers: Object.keys((headers ?? {}) as JsonObject),
  };
}
