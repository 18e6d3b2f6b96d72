import { Html, html, type Part } from './html.ts';

/** One line to fill in. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'number';
  readonly value?: string | undefined;
  readonly hint?: string;
  /** What is wrong with what was filled in. */
  readonly fault?: string | undefined;
  readonly autocomplete?: string;
  /** More attributes, which are our own words. */
  readonly more?: string;
  readonly focus?: boolean;
  readonly optional?: boolean;
}

/** A field with its label, its hint and its fault, associated for screen readers. */
export function field(given: Field): Html {
  const { name, label, type = 'text', value, hint, fault, autocomplete = 'off', more = '', focus, optional } = given;
  const described = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<span class="hint" id="${name}-hint">${hint}</span>`}
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${optional !== true && new Html(' required')}${value !== undefined && html` value="${value}"`}${described !== '' && html` aria-describedby="${described}"`}${fault !== undefined && new Html(' aria-invalid="true"')}${focus === true && new Html(' autofocus')}${more !== '' && new Html(` ${more}`)}>
${fault && html`<p class="fault" id="${name}-fault">${fault}</p>`}
</div>`;
}

/** What is wrong with a form as a whole; said at once by programs that read pages aloud. */
export function problem(text: string | undefined): Part {
  return text !== undefined && html`<p class="problem" role="alert">${text}</p>`;
}

/** What was done. */
export function done(text: string | undefined): Part {
  return text !== undefined && html`<p class="done" role="status">${text}</p>`;
}

/** A form that only comes from a page of ours; the browser's own complaints are off, because ours say more. */
export function form(action: string, hidden: Readonly<Record<string, string>>, body: Part): Html {
  const inputs = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${action}" novalidate>
${inputs}
${body}
</form>`;
}
