import type { Requirement, Subject } from '../requirements/requirement.ts'

const SUBJECT: Readonly<Record<Subject, string>> = {
  service: 'service',
  agent: 'agent',
  objects: 'validator',
  log: 'log',
  capsules: 'verifier of capsules',
}

/** `aex-conformance list`: every requirement, and of whom it is judged. */
export function listOfRequirements(requirements: readonly Requirement[]): string {
  return requirements
    .map(({ id, sentence, judgedOf, unseen }) => {
      const whom =
        judgedOf.length > 0 ? judgedOf.map((each) => SUBJECT[each]).join(', ') : `nobody: ${unseen}`
      return `${id.padEnd(8)}${sentence} (${whom})`
    })
    .join('\n')
}
