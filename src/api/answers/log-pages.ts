/** Returns the body of a page of a log: the records and the members that all paged logs have. */
export function wrapLogPage<Shown>(
  data: readonly Shown[],
  { page, page_size, total }: { readonly page: number; readonly page_size: number; readonly total: number },
) {
  return { data, page, page_size, total_records: total, total_pages: Math.ceil(total / page_size) };
}

interface Dates {
  readonly start_date: string | undefined;
  readonly end_date: string | undefined;
}

/** Returns the start and end of the period to list, as far as they are given. */
export function rangeOf({ start_date: from, end_date: to }: Dates): { readonly from?: Date; readonly to?: Date } {
  return {
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  };
}

/** Returns an object without its `undefined` members. */
export function withoutUndefined<Value extends object>(
  value: Value,
): { [Name in keyof Value]?: NonNullable<Value[Name]> } {
  // Only `undefined` members are removed, so the type still holds.
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as ReturnType<
    typeof withoutUndefined<Value>
  >;
}
