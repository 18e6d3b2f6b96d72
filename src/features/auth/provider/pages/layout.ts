import { createHash } from 'node:crypto';
import { Html, type HtmlPart, html } from './html.ts';

const style = `
:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--text:#1b1f27;--soft:#59616e;--line:#c3c9d2;--accent:#0b5fa5;--on:#fff;--bad:#a3160f;--bad-soft:#fdecea;--good:#14622f;--good-soft:#e6f4ea}
@media (prefers-color-scheme:dark){:root{--page:#14171c;--card:#1d2128;--text:#eceff3;--soft:#a9b1bd;--line:#4a525e;--accent:#7cbcf3;--on:#0c1824;--bad:#ffb1aa;--bad-soft:#43201e;--good:#a5dfb8;--good-soft:#183423}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{width:100%;max-width:26rem;padding:2.5rem 1.25rem .75rem;font-weight:650;letter-spacing:.01em}
header svg{vertical-align:-.3em;margin-right:.5rem}
main{width:calc(100% - 1.5rem);max-width:26rem;margin:0 .75rem 2rem;padding:1.75rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}
body.wide header,body.wide main{max-width:46rem}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25}
h2{margin:0 0 .5rem;font-size:1.15rem}
p{margin:0 0 1rem}
.soft{color:var(--soft)}
.row+.soft,form+.soft{margin-top:1.5rem}
form+form{margin-top:.75rem}
main>:last-child{margin-bottom:0}
section{border-top:1px solid var(--line);margin-top:1.75rem;padding-top:1.5rem}
label,legend{display:block;font-weight:600;margin-bottom:.25rem}
.hint{display:block;color:var(--soft);font-size:.9rem;margin:-.1rem 0 .35rem}
input,select{width:100%;padding:.6rem .7rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:.4rem}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
input[type=checkbox]{width:1.15rem;height:1.15rem;flex:none;margin:.2rem 0 0}
.check{display:flex;gap:.6rem;align-items:flex-start}.check label{font-weight:400;margin:0}
.field{margin:0 0 1.1rem}
.code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;letter-spacing:.12em;font-size:1.15rem}
button,.button{display:inline-block;padding:.6rem 1.1rem;font:inherit;font-weight:600;color:var(--on);background:var(--accent);border:1px solid var(--accent);border-radius:.4rem;cursor:pointer;text-decoration:none}
button.plain{color:var(--accent);background:transparent}
button.danger{color:var(--bad);background:transparent;border-color:var(--bad)}
.full{width:100%}
.row{display:flex;flex-wrap:wrap;gap:.75rem}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.problem,.done{padding:.7rem .9rem;border-radius:.4rem;border-left:4px solid;margin:0 0 1.25rem}
.problem{color:var(--bad);background:var(--bad-soft)}.done{color:var(--good);background:var(--good-soft)}
.fault{color:var(--bad);font-size:.95rem;margin:.3rem 0 0}
.secret{display:block;padding:.7rem .9rem;margin:.5rem 0 0;overflow-wrap:anywhere;user-select:all;background:var(--page);color:var(--text);border:1px solid var(--line);border-radius:.4rem}
code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.95em}
ul{padding-left:1.25rem;margin:0 0 1rem}
.scroll{overflow-x:auto;margin-bottom:1.25rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);vertical-align:middle}
th{font-size:.9rem;color:var(--soft)}td button{padding:.3rem .7rem}
.qr{width:12rem;height:12rem;padding:.75rem;background:#fff;border-radius:.4rem;margin-bottom:1rem}
.qr svg{width:100%;height:100%;display:block}
`;

// Logo: threads that cross over and under each other.
const mark = new Html(
  '<svg width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true"><path d="M3 7h4m4 0h10M3 12h10m4 0h4M3 17h4m4 0h10M9 3v10m0 4v4M15 3v6m0 4v8"/></svg>',
);

const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/**
 * Returns the Content-Security-Policy of a page. The page may load only its own style, and its forms may lead only to
 * this server and to `targets`, where the server redirects people.
 */
export function pagePolicy(targets: readonly string[] = []): string {
  const forms = ["'self'", ...targets].join(' ');
  return `default-src 'none'; style-src ${styleHash}; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`;
}

/** Headers that every page is sent with. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** A page. Its title is also its heading. */
export interface Page {
  readonly title: string;
  readonly body: HtmlPart;
  readonly wide?: true;
  /** Whether the page reports an error. The title then begins with it, for screen readers. */
  readonly problem?: boolean;
}

/** Renders a whole HTML document. */
export function renderPage({ title, body, wide, problem }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${problem === true && 'Problem: '}${title} – Heddle</title>
<style>${new Html(style)}</style>
</head>
<body${wide === true && new Html(' class="wide"')}>
<header>${mark}Heddle</header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text;
}
