import { createHash } from 'node:crypto';
import { invitePage as operations } from '../../operations/invite-page.ts';
import { implement } from '../operations/implement.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; }
main { box-sizing: border-box; width: min(26rem, 100%); padding: 2rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
label { display: block; font-weight: 600; margin-top: 1rem; }
input, button { box-sizing: border-box; width: 100%; font: inherit; padding: .6rem; margin-top: .3rem; border-radius: .4rem; border: 1px solid; }
button { margin-top: 1.5rem; font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
small { display: block; }
[role=alert]:not(:empty) { margin-top: 1rem; padding: .6rem; border-left: 4px solid; }
`;

// The page is the same for every invite. Its script loads the invite from the API, with the token in the URL of the
// page.
const script = `
const token = location.pathname.split('/').pop();
const base = '/api/users/invites/' + encodeURIComponent(token);
const at = (id) => document.getElementById(id);
const say = (text) => { at('trouble').textContent = text; };
const read = async (answer) => {
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.message || 'the server does not answer as it should; try again');
  return body;
};
const end = (title, text) => {
  at('form').hidden = true;
  at('title').textContent = title;
  at('about').textContent = text;
  at('title').focus();
};
fetch(base).then(read).then((invite) => {
  if (!invite.valid) return end('This invitation has expired', 'Ask ' + (invite.invited_by || 'the person who invited you') + ' for a new one.');
  at('about').textContent = (invite.invited_by || 'Somebody') + ' invites you, ' + (invite.name || invite.email) + ', to a private network. Choose a password to come in.';
  at('email').value = invite.email;
  at('form').hidden = false;
  at('password').focus();
}).catch((error) => end('This invitation does not work', error.message + '.'));
at('form').addEventListener('submit', (event) => {
  event.preventDefault();
  say('');
  if (at('password').value !== at('again').value) return say('The two passwords differ; type the same one twice.');
  at('send').disabled = true;
  const body = JSON.stringify({ password: at('password').value, ...(location.hash.length > 1 ? { proof: location.hash.slice(1) } : {}) });
  fetch(base + '/accept', { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(read)
    .then(() => {
      end('Welcome', 'Your account is ready. From now on you sign in as ' + at('email').value + ' with your new password.');
      at('next').hidden = false;
    })
    .catch((error) => { say(error.message + '.'); at('send').disabled = false; });
});
`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Invitation · Heddle</title>
<style>${style}</style>
</head>
<body>
<main>
<h1 id="title" tabindex="-1">You are invited</h1>
<p id="about" role="status">Looking for your invitation…</p>
<noscript><p>This page needs JavaScript to accept your invitation.</p></noscript>
<form id="form" hidden>
<label for="email">E-mail address</label>
<input id="email" name="username" type="email" autocomplete="username" readonly>
<label for="password">Password</label>
<input id="password" type="password" autocomplete="new-password" minlength="8" maxlength="1024" required aria-describedby="rule">
<small id="rule">At least 8 characters; nothing more is asked.</small>
<label for="again">Password once more</label>
<input id="again" type="password" autocomplete="new-password" required>
<div id="trouble" role="alert"></div>
<button id="send">Accept the invitation</button>
</form>
<p id="next" hidden><a href="/signin/account">Sign in</a></p>
</main>
<script>${script}</script>
</body>
</html>
`;

const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hashOf(style)}'`,
  `script-src 'sha256-${hashOf(script)}'`,
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** The page on which a person accepts an invite. */
export const invitePage = implement(operations, () => ({
  read({ reply }) {
    void reply.header('content-security-policy', contentSecurityPolicy);
    return page;
  },
}));
