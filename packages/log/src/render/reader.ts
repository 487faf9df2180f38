/** For whom a verdict is written. */
export interface Reader {
  /** The name of an organization in the reader's own address book. Nobody signs names, so the id stays beside it. */
  readonly nameOf?: (organizationId: string) => string | undefined
  /** IANA name of the reader's time zone; that of the machine by default. */
  readonly timeZone?: string
}

/** The quotation marks show where a name ends: what it says is not part of the verdict. */
export function organizationText(organizationId: string, { nameOf }: Reader): string {
  const name = nameOf?.(organizationId)?.replaceAll(/[“”]/gu, '"')
  return name === undefined ? organizationId : `“${name}” (${organizationId})`
}
