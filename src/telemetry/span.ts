import { currentContext, runInContext } from './context.ts';

/** Attributes of a span. Values must never come from bodies, statement parameters, or error messages. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A timed piece of work, and the trace that it is part of. */
export interface Span {
  readonly traceId: string;
  /** Value of the `traceparent` header for requests to other programs. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Marks the work as failed. Records the class of the error. */
  fail(error: unknown): void;
  /** Begins a child span. `client`: a request to another program. */
  begin(name: string, attributes?: Attributes, kind?: 'internal' | 'client'): Span;
  end(): void;
}

/** Start of a span that has no parent in this process. */
export interface SpanStart {
  /** `server`: a request of a client; `internal`: work that this server started itself. */
  readonly kind: 'server' | 'internal';
  /** Header of the caller, which names the caller's span. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly attributes?: Attributes;
}

/** Begins spans. */
export interface Tracer {
  begin(name: string, start: SpanStart): Span;
}

/** Runs work in a child of the span of the context. Without a span in the context, only runs the work. */
export function traced<Value>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<Value>,
): Promise<Value> {
  const { span } = currentContext();
  return span === undefined ? work() : runInSpan(span.begin(name, attributes), work);
}

/** As `traced`, for synchronous work. */
export function tracedSync<Value>(name: string, attributes: Attributes, work: () => Value): Value {
  const { span } = currentContext();
  if (span === undefined) return work();
  const own = span.begin(name, attributes);
  try {
    return work();
  } finally {
    own.end();
  }
}

/** As `traced`, for a request to another program. */
export function tracedClientCall<Value>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<Value>,
): Promise<Value> {
  const { span } = currentContext();
  return span === undefined ? work() : runInSpan(span.begin(name, attributes, 'client'), work);
}

/** Runs work in a root span, such as one run of a background loop. */
export function tracedRoot<Value>(
  tracer: Tracer | undefined,
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<Value>,
): Promise<Value> {
  return tracer === undefined ? work() : runInSpan(tracer.begin(name, { kind: 'internal', attributes }), work);
}

async function runInSpan<Value>(span: Span, work: (span: Span) => Promise<Value>): Promise<Value> {
  try {
    return await runInContext({ ...currentContext(), span }, () => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}
