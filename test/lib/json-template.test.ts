import { describe, expect, it } from 'vitest';
import { parseJsonTemplate } from '../../src/lib/text/json-template.ts';
import { growthOf, linear } from '../setup/growth.ts';

const samples = { ID: 1, Meta: { name: 'a' } };
const parse = (text: string) => parseJsonTemplate(text, samples);
const render = (text: string): string => {
  const template = parse(text);
  if ('fault' in template) throw new Error(template.fault);
  return template.render({ ID: 2, Meta: { name: 'b"c' } });
};

describe('a JSON template', () => {
  it('renders placeholders inside and outside of quotes, with text around them', () => {
    expect(render('{"a":{{.ID}},"b":"x{{ .Meta.name }}{{.ID}}y"}')).toBe('{"a":2,"b":"xb\\"c2y"}');
  });

  it.each([
    ['without an end', '{"a":{{.ID', 'a `{{` has no closing `}}`; add it'],
    ['without an end after another placeholder', '{{.ID}}{{', 'a `{{` has no closing `}}`; add it'],
    ['of an unknown value', '{"a":{{.I}}}', '`{{.I}}` is not a known value; did you mean {{.ID}}?'],
    ['that begins twice', '{{{{.ID}}}}', '`{{{{.ID}}` is not a known value; there are {{.ID}}, {{.Meta}}'],
  ])('is refused for a placeholder %s', (_, text, fault) => {
    expect(parse(text)).toEqual({ fault });
  });

  it.each(['{{', '{', '}}'])('is parsed in linear time when it repeats %s', (piece) => {
    const growth = growthOf((size) => parse(piece.repeat(size)), 300);
    expect(growth).toBeLessThan(linear);
  });
});
