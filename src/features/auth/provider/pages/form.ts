import { Html, type HtmlPart, html } from './html.ts';

/** An input field. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'number';
  readonly value?: string | undefined;
  readonly hint?: string;
  /** Error message for the entered value. */
  readonly fault?: string | undefined;
  readonly autocomplete?: string;
  /** Further HTML attributes, not escaped: only fixed texts of ours. */
  readonly extraAttributes?: string;
  readonly focus?: boolean;
  readonly optional?: boolean;
}

/** Renders a field with its label, hint and error, associated for screen readers. */
export function field(given: Field): Html {
  const {
    name,
    label,
    type = 'text',
    value,
    hint,
    fault,
    autocomplete = 'off',
    extraAttributes = '',
    focus,
    optional,
  } = given;
  const described = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<span class="hint" id="${name}-hint">${hint}</span>`}
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${optional !== true && new Html(' required')}${value !== undefined && html` value="${value}"`}${described !== '' && html` aria-describedby="${described}"`}${fault !== undefined && new Html(' aria-invalid="true"')}${focus === true && new Html(' autofocus')}${extraAttributes !== '' && new Html(` ${extraAttributes}`)}>
${fault && html`<p class="fault" id="${name}-fault">${fault}</p>`}
</div>`;
}

/** Renders the error of a form as a whole. Screen readers announce it at once. */
export function problemMessage(text: string | undefined): HtmlPart {
  return text !== undefined && html`<p class="problem" role="alert">${text}</p>`;
}

/** Renders a message about a completed action. */
export function doneMessage(text: string | undefined): HtmlPart {
  return text !== undefined && html`<p class="done" role="status">${text}</p>`;
}

/**
 * Renders a form with hidden fields, which prove that the form comes from our page. The browser's own validation is
 * off, because our messages say more.
 */
export function form(action: string, hidden: Readonly<Record<string, string>>, body: HtmlPart): Html {
  const inputs = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${action}" novalidate>
${inputs}
${body}
</form>`;
}
