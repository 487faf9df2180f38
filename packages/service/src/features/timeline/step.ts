export type StepKind = 'evidence' | 'notification' | 'attempt' | 'alert' | 'key_event'

/** How a step went. */
export type StepOutcome = 'good' | 'pending' | 'bad' | 'neutral'

/** The party of a step that is no organization. */
export const EXCHANGE = 'exchange'

/** Something that happened to a package, for people: names, ids, states and times, never content. */
export interface Step {
  readonly at: string
  readonly kind: StepKind
  /** One line. */
  readonly what: string
  readonly outcome: StepOutcome
  /** Who acted and whom it reached: an organization, or the exchange. */
  readonly from: string
  readonly to?: string
  readonly package_id?: string
  readonly facts: Facts
}

export type Fact = string | number | boolean | readonly string[] | readonly Facts[]
export interface Facts {
  readonly [name: string]: Fact
}

type Given = Readonly<Record<string, Fact | null | undefined>>

/** Leaves out what is not known. */
export function factsOf(given: Given): Facts {
  const known = Object.entries(given).filter(
    (entry): entry is [string, Fact] => entry[1] !== null && entry[1] !== undefined,
  )
  return Object.fromEntries(known)
}
