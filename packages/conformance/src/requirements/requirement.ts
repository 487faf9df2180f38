/** Whom a requirement can be judged of from outside. */
export type Subject = 'service' | 'agent' | 'objects' | 'log' | 'capsules'

export interface Requirement {
  readonly id: string
  /** What an implementation has to do, in one sentence of ours. */
  readonly sentence: string
  /** Empty if nobody outside can see it. */
  readonly judgedOf: readonly Subject[]
  /** Why it is not judged, or which part of it nobody outside can see. */
  readonly unseen?: string
}

export const inService = (id: string, sentence: string, unseen?: string): Requirement => ({
  id,
  sentence,
  judgedOf: ['service'],
  ...(unseen !== undefined && { unseen }),
})

/** The same requirement, which is judged of an agent too: by what it sends, or by what it refuses. */
export const andOfAgent = (requirement: Requirement): Requirement => ({
  ...requirement,
  judgedOf: [...requirement.judgedOf, 'agent'],
})

/** The same requirement, which is judged of a validator too. */
export const andOfObjects = (requirement: Requirement): Requirement => ({
  ...requirement,
  judgedOf: [...requirement.judgedOf, 'objects'],
})

export const inObjects = (id: string, sentence: string): Requirement => ({
  id,
  sentence,
  judgedOf: ['objects'],
})

export const unseen = (id: string, sentence: string, why: string): Requirement => ({
  id,
  sentence,
  judgedOf: [],
  unseen: why,
})
