import { mermaidLanguage } from 'codemirror-lang-mermaid';

/** What is wrong with a diagram, each with its place. The parser reads on after a mistake, so all of them are answered. */
export function mermaidProblems(text: string): readonly string[] {
  const problems: string[] = [];
  // An arrow whose end has not come yet; the text on it is a node of the tree too.
  let open: number | undefined;
  const at = (offset: number) => `line ${text.slice(0, offset).split('\n').length}`;
  mermaidLanguage.parser.parse(text).iterate({
    enter({ name, from, to, type }) {
      if (type.isError) problems.push(`${at(from)}: cannot be read`);
      if (name === 'Link' && open !== undefined) problems.push(`${at(open)}: an arrow leads nowhere`);
      if (name === 'Link') open = from;
      if (name === 'NodeId') open = undefined;
      // Mermaid takes the bare word for the end of a subgraph.
      if (name === 'NodeId' && text.slice(from, to) === 'end') problems.push(`${at(from)}: \`end\` cannot name a node`);
    },
  });
  if (open !== undefined) problems.push(`${at(open)}: an arrow leads nowhere`);
  return problems;
}
