/** Whether a command prints for a person: on a terminal, unless JSON is wanted. */
export function isForPeople({ json = false }: { readonly json?: boolean }): boolean {
  return process.stdout.isTTY && !json
}
