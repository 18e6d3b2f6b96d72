import { mermaidLanguage } from 'codemirror-lang-mermaid';

/**
 * Returns the mistakes in a diagram, each with its line. The parser continues after a mistake, so all of them are
 * reported.
 */
export function mermaidProblems(text: string): readonly string[] {
  const problems: string[] = [];
  // Start of an arrow whose target has not been read yet. The text on an arrow is a node of the tree too.
  let open: number | undefined;
  const at = (offset: number) => `line ${text.slice(0, offset).split('\n').length}`;
  mermaidLanguage.parser.parse(text).iterate({
    enter({ name, from, to, type }) {
      if (type.isError) problems.push(`${at(from)}: cannot be read`);
      if (name === 'Link' && open !== undefined) problems.push(`${at(open)}: an arrow leads nowhere`);
      if (name === 'Link') open = from;
      if (name === 'NodeId') open = undefined;
      // Mermaid reads the bare word `end` as the end of a subgraph.
      if (name === 'NodeId' && text.slice(from, to) === 'end') problems.push(`${at(from)}: \`end\` cannot name a node`);
    },
  });
  if (open !== undefined) problems.push(`${at(open)}: an arrow leads nowhere`);
  return problems;
}
