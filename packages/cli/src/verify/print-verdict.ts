import { renderCapsuleText, verdictSentence, type CapsuleResult, type Reader } from '@agent-exchange/log'
import { wrapped } from './wrap-verdict.ts'

/** A verdict for a terminal of 80 columns. */
export function verdictText(result: CapsuleResult, reader?: Reader): string {
  return wrapped(renderCapsuleText(result, reader))
}

/** A verdict for programs: codes, with the sentence beside them for whoever shows it. */
export function verdictDocument(result: CapsuleResult, reader?: Reader) {
  return { ...result, sentence: verdictSentence(result, reader) }
}
