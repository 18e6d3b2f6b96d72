/**
 * Returns the rule that names are unique among the objects of a kind. `noun` names such an object in refusals, with its
 * article.
 */
export function uniqueName(noun: string) {
  return {
    path: '/name',
    value: (object: { readonly spec: { readonly name?: string | undefined } }) => object.spec.name ?? '',
    message: (name: string) => `${noun} with the name \`${name}\` already exists; choose another name`,
  };
}
