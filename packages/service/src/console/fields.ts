/** Values of a query or a form. */
export interface Fields {
  /** Without surrounding blanks; undefined if it is absent, empty, or there more than once. */
  get(name: string): string | undefined
  all(name: string): readonly string[]
}

export function fieldsOf(text: string): Fields {
  const values = new URLSearchParams(text)
  return {
    get(name) {
      const [value, ...others] = values.getAll(name)
      return others.length > 0 ? undefined : value?.trim() || undefined
    },
    all: (name) => values.getAll(name),
  }
}
