import { currentContext, runIn } from './context.ts';

/** What is known of a span. Values never come from bodies, parameters of statements, or messages of errors. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A piece of work that is timed, with what it is part of. */
export interface Span {
  readonly traceId: string;
  /** As other programs are given it. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Notes that it failed, by the class of the error. */
  fail(error: unknown): void;
  /** Begins work that is part of this. `client`: another program is asked. */
  begin(name: string, attributes?: Attributes, kind?: 'internal' | 'client'): Span;
  end(): void;
}

/** How a span begins that is part of no other one here. */
export interface SpanStart {
  /** `server`: a client asks; `internal`: this server does something by itself. */
  readonly kind: 'server' | 'internal';
  /** What the caller's span is, as it names it. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly attributes?: Attributes;
}

/** Begins spans. */
export interface Tracer {
  begin(name: string, start: SpanStart): Span;
}

/** Does work as part of the span of the context; without one the work is all that happens. */
export function traced<Value>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<Value>,
): Promise<Value> {
  const { span } = currentContext();
  return span === undefined ? work() : during(span.begin(name, attributes), work);
}

/** The same for work that ends at once. */
export function tracedNow<Value>(name: string, attributes: Attributes, work: () => Value): Value {
  const { span } = currentContext();
  if (span === undefined) return work();
  const own = span.begin(name, attributes);
  try {
    return work();
  } finally {
    own.end();
  }
}

/** The same where another program is asked. */
export function tracedCall<Value>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<Value>,
): Promise<Value> {
  const { span } = currentContext();
  return span === undefined ? work() : during(span.begin(name, attributes, 'client'), work);
}

/** Does work that is part of nothing, such as that of a loop. */
export function tracedRoot<Value>(
  tracer: Tracer | undefined,
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<Value>,
): Promise<Value> {
  return tracer === undefined ? work() : during(tracer.begin(name, { kind: 'internal', attributes }), work);
}

async function during<Value>(span: Span, work: (span: Span) => Promise<Value>): Promise<Value> {
  try {
    return await runIn({ ...currentContext(), span }, () => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}
