/** A kind whose objects have names of their own; `noun` is what refusals call one, with its article. */
export function uniqueName(noun: string) {
  return {
    path: '/name',
    value: (object: { readonly spec: { readonly name?: string | undefined } }) => object.spec.name ?? '',
    message: (name: string) => `${noun} with the name \`${name}\` already exists; choose another name`,
  };
}
